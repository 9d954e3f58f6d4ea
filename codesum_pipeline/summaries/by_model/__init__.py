"""Texts that a language model writes: which, of what, and what stands where it may not or cannot."""
