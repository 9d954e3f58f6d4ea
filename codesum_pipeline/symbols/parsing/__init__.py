"""A file becomes symbols: canonical source, definitions, facts."""
