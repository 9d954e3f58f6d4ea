"""Texts that a language model writes: of which documents, from what, and which text is used where it does not."""
