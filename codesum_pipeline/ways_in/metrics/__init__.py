"""What servers measure of the fleet and of requests, for Prometheus or by OTLP."""
