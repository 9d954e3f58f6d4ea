"""Carries out a build and reports its results without Dagster, as values that are sent between processes."""
