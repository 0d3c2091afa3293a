"""Benchmarks: Zataku and its peers, measured side by side in one run."""
