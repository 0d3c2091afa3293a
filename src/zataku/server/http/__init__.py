"""HTTP: the ASGI layers around the application, its routes, errors, static files and OpenAPI document."""
