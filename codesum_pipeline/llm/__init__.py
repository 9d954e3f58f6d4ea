"""Texts by a language model: asked for safely, replayable, at a known price."""
