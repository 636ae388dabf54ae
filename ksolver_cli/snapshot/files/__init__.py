"""Files as they lie on disk: written whole or not at all, long ones read in parts."""
