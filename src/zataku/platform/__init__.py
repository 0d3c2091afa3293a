"""What the five systems share in one table: who is who, what is due when, and who may do it now."""
