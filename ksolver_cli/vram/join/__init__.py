"""From a series to the pod it is about: its spec, its owner, how it ended."""
