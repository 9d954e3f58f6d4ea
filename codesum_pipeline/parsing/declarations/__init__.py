"""One module a language: what its grammar calls things, and how it is written."""
