"""Commands of `ontoref interaction`."""
