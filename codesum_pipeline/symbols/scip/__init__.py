"""A compiler's index of a repository, in the form of SCIP: found, read, and compared with the text at hand."""
