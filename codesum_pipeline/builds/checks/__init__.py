"""Checks of a build: what is wrong with its tables, and which figures are out of their band."""
