"""`python -m playground`: the command line."""

from __future__ import annotations

from playground.cli import main

if __name__ == "__main__":
    main(prog_name="playground")
