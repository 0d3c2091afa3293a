"""Facts derived from a declaration without a store: sizes, key sources, sample values and calls."""
