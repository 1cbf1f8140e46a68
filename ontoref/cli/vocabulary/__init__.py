"""`ontoref vocabulary`."""
