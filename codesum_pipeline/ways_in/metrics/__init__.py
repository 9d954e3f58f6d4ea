"""What servers measure, and its two exits: a page for Prometheus, and OpenTelemetry's protocol."""
