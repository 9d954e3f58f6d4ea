"""Calls to language models: safe, replayable, and at a known price."""
