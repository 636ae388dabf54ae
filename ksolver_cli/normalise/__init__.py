"""API objects to the domain; pure."""
