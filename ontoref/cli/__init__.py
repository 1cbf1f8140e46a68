"""The command line: options -> core call -> render. Nothing imports this package."""
