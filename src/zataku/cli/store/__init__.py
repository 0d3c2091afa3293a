"""`zataku store`: state, backups, transfers and maintenance of a store."""
