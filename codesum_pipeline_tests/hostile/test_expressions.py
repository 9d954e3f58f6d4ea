"""Every regular expression of the package meets texts that are made to break it: names, comments, queries and answers
are written by others."""
