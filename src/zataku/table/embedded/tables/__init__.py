"""Table definitions in an embedded store, and the work that follows a change of them."""
