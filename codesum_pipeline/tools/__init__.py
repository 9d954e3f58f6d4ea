"""What agents and people can ask a home for: one implementation of each tool, without a model, bounded in tokens."""
