"""Side-by-side measurements: Zataku beside the peers it names, in one run."""
