"""What ontoref costs, beside what it is compared with."""
