"""The tools as a server of the Model Context Protocol, for coding agents."""
