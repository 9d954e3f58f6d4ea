"""What is wrong now, since when, and what people were told: only changes of state are told."""
