"""The admin page's API under `/api/admin`: overview, tables, backups, jobs and accounts."""
