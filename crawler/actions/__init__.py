"""What the commands do; each is imported when its command runs, so that all others start without it."""
