"""A query becomes hits, from the published version alone and with numpy alone."""
