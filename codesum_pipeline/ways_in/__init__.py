"""A request becomes an answer: tools, work trees, servers and the command line."""
