"""Header lines of records and HTTP messages: parsed, built, and bodies with their codings taken off."""
