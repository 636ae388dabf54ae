"""The price file that a person writes: what it says, how it is read, what may be wrong with it."""
