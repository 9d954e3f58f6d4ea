"""Edges of the languages whose imports and calls are resolved by the rules of their family."""
