"""Two versions become news: what changed, whom it concerns, written as digests and delivered."""
