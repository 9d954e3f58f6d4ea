"""Symbols become a graph: who calls, imports and inherits whom, and how much each matters."""
