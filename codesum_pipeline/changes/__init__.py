"""Two versions become news: what changed, whom it concerns, written and delivered; and old rows become one."""
