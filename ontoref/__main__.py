"""`python -m ontoref`, the same as the console script."""

from ontoref.cli.main import main

if __name__ == "__main__":
    main()
