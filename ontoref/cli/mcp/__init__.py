"""`ontoref mcp`: the command line as tools that an agent can call."""
