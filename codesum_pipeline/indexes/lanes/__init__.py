"""Lanes, the rankings of a search: which text of a document each one uses, as vectors or words."""
