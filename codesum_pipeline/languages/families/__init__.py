"""How names are found: the rules of each family of languages whose files may look at each other, but for Python's."""
