"""A repository becomes a snapshot: where it is, what git holds of it, and which of its files are indexed."""
