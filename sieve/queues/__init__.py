"""URLs on their way through a sieve: packed batches, what waits for a flush, what was admitted and not yet taken."""
