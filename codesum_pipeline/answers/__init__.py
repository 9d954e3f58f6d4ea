"""A question about the index becomes an answer: by a tool, over a work tree, by a language model."""
