"""Symbols and graph become texts: by evidence in the code, or by a language model."""
