"""The common parts of all HTTP entrances: addresses, tokens, limits, and the audit log."""
