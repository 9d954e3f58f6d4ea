"""What carries out a build and says what came of it, without Dagster, as values that go between processes."""
