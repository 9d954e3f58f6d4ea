"""Documents become indexes: vectors, terms, and a version folder that a name points at."""
