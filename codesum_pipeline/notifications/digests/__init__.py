"""Digests: what changed about a standing question, written, kept and handed over for sending."""
