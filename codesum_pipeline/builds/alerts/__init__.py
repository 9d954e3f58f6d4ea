"""Alerts: which conditions fail now, since when, and what was reported. Only changes of state are reported."""
