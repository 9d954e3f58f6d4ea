"""Languages that are read by a query of their grammar alone: a table for each, and the door to the grammars."""
