"""What a newcomer asks of a repository: its frameworks, entry points, parts, and where to start reading."""
