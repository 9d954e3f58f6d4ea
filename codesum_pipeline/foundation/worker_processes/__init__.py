"""Processes that share the work of a step: batches go out, results come back in order."""
