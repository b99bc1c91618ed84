"""The command line as a module: ``python -m nashgraph``."""

from .cli import main

if __name__ == "__main__":
    main()
