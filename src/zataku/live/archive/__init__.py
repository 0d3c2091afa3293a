"""What is left of a talk that is over: when how much was said, who said what, and all of it to take along."""
