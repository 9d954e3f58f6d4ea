"""Code hosts tell of pushes, and the repositories that they are about are looked at within seconds."""
