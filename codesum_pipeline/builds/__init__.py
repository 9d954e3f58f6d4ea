"""The steps of a build in order, and who starts them: the command line, or Dagster. The home that they work in."""
