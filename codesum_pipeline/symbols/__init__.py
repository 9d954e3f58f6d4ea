"""A file becomes symbols: by its language, by the parser, and by a compiler's index."""
