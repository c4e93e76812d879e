"""What is done with whole files: verify, repair, convert, join, count."""
