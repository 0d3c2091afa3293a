"""TypeScript for the web pages, generated from the structs that cross the wire."""
