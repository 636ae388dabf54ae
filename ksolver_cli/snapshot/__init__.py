"""The snapshot file: read, write, migrate, redact, import other formats."""
