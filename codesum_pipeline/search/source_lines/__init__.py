"""A pattern becomes lines: over the texts of published versions as their repositories have them, by ripgrep."""
