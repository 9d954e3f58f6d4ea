"""Shared builds: the index of a commit as a file, which other machines import to build only the difference."""
