"""Reads what authors wrote: docstrings, doc comments, READMEs and other prose, as plain sentences."""
