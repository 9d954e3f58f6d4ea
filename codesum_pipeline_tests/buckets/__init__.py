"""Homes in buckets: workers with a folder each, and readers with a copy."""
