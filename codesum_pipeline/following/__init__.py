"""Work trees that are watched for changes while a server runs."""
