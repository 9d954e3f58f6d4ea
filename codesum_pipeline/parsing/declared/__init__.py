"""Reads a file of any language that has a declaration."""
