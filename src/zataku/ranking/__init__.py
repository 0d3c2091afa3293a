"""Daily player rankings: everyone's place, and how it moved since yesterday."""
