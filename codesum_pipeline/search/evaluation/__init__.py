"""How well a search answers questions with known answers, and which lanes and texts contribute."""
