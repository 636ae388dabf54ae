"""Our verdicts against a scheduler's: sources, buckets, gate."""
