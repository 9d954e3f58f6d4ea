"""Resolves Python's names and expressions."""
