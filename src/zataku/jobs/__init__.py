"""Background work: deadlines, daily jobs and stream consumers, run by any number of server processes."""
