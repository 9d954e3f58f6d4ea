"""What servers measure."""
