"""From exchanges to WARC files, whole after a crash: records, journal, packs, recovery."""
