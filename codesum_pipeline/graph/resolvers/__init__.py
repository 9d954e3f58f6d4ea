"""The expressions of files are resolved, language by language, and their calls, imports and bases become edges."""
