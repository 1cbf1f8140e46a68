"""`ontoref adr`."""
