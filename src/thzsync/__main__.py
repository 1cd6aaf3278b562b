"""``python -m thzsync``."""

from __future__ import annotations

import sys

from thzsync.cli import main

if __name__ == "__main__":
    sys.exit(main())
