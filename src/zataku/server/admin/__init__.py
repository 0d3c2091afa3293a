"""What a host sees and does on the admin page, behind `/api/admin`."""
