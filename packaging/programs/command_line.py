"""The frozen command line."""

import sys

from lineclear.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
