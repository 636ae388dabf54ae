"""Pod classes made ready for replays: what they count, where, and with which weights."""
