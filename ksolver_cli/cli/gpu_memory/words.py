"""Counts in words."""


def some(count: int, what: str) -> str:
    """Return a count with its noun, which takes an s where there are several or none."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
