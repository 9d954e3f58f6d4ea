"""What every HTTP entrance of ours has in common: where it listens, by which names, and with which token."""
