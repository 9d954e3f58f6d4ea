"""Manifests: one reader for each format, each a pure function of a path and a text."""
