"""`ontoref key`."""
