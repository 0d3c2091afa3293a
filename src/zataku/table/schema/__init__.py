"""What a design declares: tables, indexes, entities, key templates, field paths, access patterns, write plans."""
