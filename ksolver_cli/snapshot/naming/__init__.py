"""Which labels a file shows, and under what names: needed ones alone, or none of the cluster's own at all."""
