"""Live comment rooms: what the audience says and feels, shown while the talk goes on."""
