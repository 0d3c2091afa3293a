"""The design document of a design, in Markdown."""
