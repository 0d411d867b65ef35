"""`python -m vault_kg.cli` is `vault-kg`."""

from __future__ import annotations

import sys

from vault_kg.cli import main

if __name__ == "__main__":
    sys.exit(main())
