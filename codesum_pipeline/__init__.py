"""A hierarchical summary index of repositories, kept fresh by Dagster."""
