"""What everything stands on: the nouns, facts about languages, settings, tables and files, worker processes."""
