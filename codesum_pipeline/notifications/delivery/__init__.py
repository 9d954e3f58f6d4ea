"""Digests and notices reach people: channels, an outbox that sends each of them once, and hooks."""
