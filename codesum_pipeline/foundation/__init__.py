"""What every other room uses: data types, facts about languages, settings, tables and files, worker processes."""
