"""Which folder or bucket is the home, whose it is, and the settings that it is opened with."""
