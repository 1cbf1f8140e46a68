"""Commands of `ontoref session`."""
