"""Commands of `ontoref state`."""
