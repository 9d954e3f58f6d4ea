"""Where tables live: Parquet files per repository, written atomically, read through DuckDB."""
