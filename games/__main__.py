"""`python -m games`: see games/shell/cli.py."""

import sys

from games.shell.cli import main

if __name__ == "__main__":
    sys.exit(main())
