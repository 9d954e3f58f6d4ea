"""The writer that needs nothing but the code: deterministic, free and offline.

Each function turns one input into one text and depends on nothing else; the
order in which children are listed does not matter.
"""
