"""Old rows become one: attested by an operator, written by a pinned model, changed in one transaction."""
