"""A question becomes an answer: a model's turn with tools, written down as it happens."""
