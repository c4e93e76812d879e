"""What an answer turned out to be and is worth: findings, the marks and caps of kept pages, what a link takes along."""
