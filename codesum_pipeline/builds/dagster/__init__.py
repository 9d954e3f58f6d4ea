"""All of Dagster: what is built, when, and how a person sees it."""
