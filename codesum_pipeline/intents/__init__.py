"""Standing questions: `intents.yaml`, what may stand in it, and when each is due."""
