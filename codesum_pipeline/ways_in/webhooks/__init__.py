"""Code hosts report pushes, and the repositories concerned are polled within seconds."""
