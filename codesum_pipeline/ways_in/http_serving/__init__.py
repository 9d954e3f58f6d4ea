"""The common parts of all HTTP entrances: addresses, tokens, people who sign in, limits, and the audit log."""
