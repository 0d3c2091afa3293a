"""Routes of the server itself: the home page, QR codes, metrics, and the clock of tests."""
