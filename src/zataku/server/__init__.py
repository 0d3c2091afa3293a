"""The server: settings, the wired application, its HTTP and socket layers, pages, admin, and the process."""
