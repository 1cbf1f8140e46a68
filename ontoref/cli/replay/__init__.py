"""`ontoref replay`: a session as the tree it was."""
