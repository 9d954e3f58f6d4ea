"""All that is particular to a language: one module, or one package, for each.

A language is a module with a `DECLARATION`, a table of what the program must know of it (`*.toml`), and one of what its
parser must know (`*.syntax.toml`). Beside the declaration are the `Rules` by which its imports are resolved; languages
whose files may name each other share them. The other modules are what several languages share.
"""
