"""What differs from a published index in a work tree, indexed by itself and searched together with it."""
