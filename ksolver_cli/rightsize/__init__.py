"""Usage history to recommended requests, with reasons for refusing."""
