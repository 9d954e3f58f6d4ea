"""The commands of `codesum`, most of them in a module of their own name."""
