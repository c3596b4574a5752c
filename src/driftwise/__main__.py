"""``python -m driftwise``."""

from driftwise.cli import main

main()
