"""The repositories that a home knows, and looking whether they changed."""
