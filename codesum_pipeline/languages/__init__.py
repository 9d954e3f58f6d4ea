"""All that is particular to a language: one module, or one package, for each.

A language is a module with a `DECLARATION`; to add one is to add that module. The others
are what several declarations share.
"""
