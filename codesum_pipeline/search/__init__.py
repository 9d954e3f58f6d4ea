"""A query becomes hits, the quality of hits becomes numbers, and a repository becomes a page for newcomers."""
