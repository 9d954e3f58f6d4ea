"""What is kept of the past, and for how long."""
