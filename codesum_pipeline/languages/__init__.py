"""What is particular to a language: a declaration or a table for each, from which its parser is made."""
