"""Pruning: which rows, files and objects of the past are kept, and for how long."""
