"""What Python's names and expressions stand for."""
