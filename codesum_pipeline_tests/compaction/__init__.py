"""Attestations and compactions."""
