"""Which documents a build changed, and which standing questions that concerns."""
