"""The REST edge: addresses, headers and bodies over the application."""
