"""What is pruned, and what stays."""
