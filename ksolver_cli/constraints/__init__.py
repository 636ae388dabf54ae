"""One constraint family a file: what it rejects, and the rule it puts on counts."""
