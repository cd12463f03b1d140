"""``python -m ckgnn``."""

from ckgnn.cli import main

main()
