"""The frozen window."""

import sys

from lineclear.ui.app import main

if __name__ == "__main__":
    sys.exit(main())
