"""How a project takes ontoref up: its files, upgrades of its schemas, and hooks."""
