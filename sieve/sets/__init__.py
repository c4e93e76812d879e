"""Sets of fingerprints that outgrow memory, exact: filters, sorted runs on disk, and their upkeep in small steps."""
