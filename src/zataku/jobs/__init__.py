"""What is done in the background: deadlines, daily work, and work that follows from changes."""
