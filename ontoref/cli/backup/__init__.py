"""Commands of `ontoref backup`."""
