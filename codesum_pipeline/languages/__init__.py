"""All that is particular to a language: one module, or one package, for each.

A language is a module with a `DECLARATION`, and a table of what the program must know of it (`*.toml`). The others are
what several declarations share.
"""
