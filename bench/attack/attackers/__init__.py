"""The families of attackers. Each attack is a coroutine that takes a target, its bounds and a source of randomness."""
