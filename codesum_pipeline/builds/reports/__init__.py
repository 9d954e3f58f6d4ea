"""What a build reports, as plain values: shown by Dagster and by the command line, and sent between processes."""
