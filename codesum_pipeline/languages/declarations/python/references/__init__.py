"""The parts of reading what a Python file refers to; `python_references` puts them together."""
