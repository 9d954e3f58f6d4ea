"""What tests and benchmarks are made of: repositories, homes, servers on loopback, and what compares two builds."""
