"""`ontoref hook`."""
