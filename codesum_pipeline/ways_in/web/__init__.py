"""A page for people in a browser: search, documents, repositories, and questions to a model."""
