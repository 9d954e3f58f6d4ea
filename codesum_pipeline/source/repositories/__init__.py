"""The repositories that a home has registered, and the checks whether they changed."""
