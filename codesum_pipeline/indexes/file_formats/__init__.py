"""The files of an index: how each is written, and mapped into memory."""
