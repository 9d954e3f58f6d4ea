"""Hits become numbers: how well questions with known answers are answered, and by what."""
