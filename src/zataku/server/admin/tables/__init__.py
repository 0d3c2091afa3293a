"""Tables on the admin page: sizes, use and cost of each, its design, and its items."""
