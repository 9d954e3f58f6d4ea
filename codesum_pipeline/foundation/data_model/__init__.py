"""The data types of the system: plain values that every stage shares."""
