"""C and C++."""
