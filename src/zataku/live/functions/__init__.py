"""What people and processes do with live rooms, function by function, each with the rights of its row in the matrix."""
