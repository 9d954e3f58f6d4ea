"""What the whole program must know about each language without a grammar, and what the names of files say."""
