"""Lanes: which text of a document each one ranks, and that text as vectors or words."""
