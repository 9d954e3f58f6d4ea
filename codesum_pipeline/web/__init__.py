"""A page for people in a browser: search, documents, repositories. It only reads."""
