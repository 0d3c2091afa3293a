"""`python -m zataku` is the same as `zataku`."""

from zataku.cli import main

main()
