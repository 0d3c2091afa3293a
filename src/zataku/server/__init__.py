"""The one HTTP server: settings, the application wired once, pages, errors, and listening on an address."""
