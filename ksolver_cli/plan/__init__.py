"""The drain search, then ordered, PDB-safe, reversible steps."""
