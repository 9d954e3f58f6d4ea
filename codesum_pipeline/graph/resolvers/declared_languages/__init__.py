"""Edges of the languages that are read from declarations."""
