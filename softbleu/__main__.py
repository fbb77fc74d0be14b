"""`python -m softbleu`."""

from __future__ import annotations

from softbleu.cli import main

if __name__ == "__main__":
    main()
