"""Standing questions: `intents.yaml`, its allowed content, and when each question is due."""
