"""A build: its steps in order, which of them need not run, and on which items they failed."""
