"""`ontoref migrate`."""
