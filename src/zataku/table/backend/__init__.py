"""The port below the typed store: plain items, expressions and their evaluation, limits, errors, cost."""
