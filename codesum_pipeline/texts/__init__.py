"""Symbols and graph become texts: by their evidence, or by a language model."""
