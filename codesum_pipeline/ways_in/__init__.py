"""A request comes in: servers, pages and the command line."""
