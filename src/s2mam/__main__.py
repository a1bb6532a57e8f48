"""``python -m s2mam`` is the command line."""

from s2mam.cli import main

if __name__ == "__main__":
    main()
