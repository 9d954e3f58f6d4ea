"""Symbols and graph become documents: what is rewritten, by whom, and why."""
