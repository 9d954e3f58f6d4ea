"""A fleet in small: Postgres, Redis, a bucket, a daemon and workers, all real and on this machine."""
