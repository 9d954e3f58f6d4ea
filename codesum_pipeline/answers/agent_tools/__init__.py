"""The tools for agents and people: one implementation of each, without a model, with answers bounded in tokens."""
