"""The nouns of the system: plain values that every stage shares."""
