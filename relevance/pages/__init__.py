"""One parse of a page: its text without boilerplate, its links and declarations, how good its text is."""
