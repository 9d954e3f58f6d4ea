"""The Dagster UI as this package serves it: behind a guard and within limits."""
