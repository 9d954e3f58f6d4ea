"""A home in a bucket: its objects, the lease and the record of each repository, and local copies for readers."""
