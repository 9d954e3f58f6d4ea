"""A version of an index: written aside, verified, and published under the name that readers open."""
