"""The leases of this process: taken, held, and made to count in an order in which nothing is lost."""
