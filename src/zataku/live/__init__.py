"""Live comment rooms: comments, upvotes and reactions of an audience, shown during a talk."""
