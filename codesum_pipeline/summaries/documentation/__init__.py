"""What authors wrote is read: docstrings, doc comments, READMEs and other prose, as plain sentences."""
