"""The common parts of all HTTP entrances: addresses, tokens, and the audit log."""
