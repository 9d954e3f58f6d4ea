"""What was found out reaches people: channels, an outbox that sends each digest once, and hooks."""
