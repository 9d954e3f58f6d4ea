"""What is wrong now, since when, and what people were told of it: alerts are about changes of state alone."""
