"""The nouns; standard library only; no I/O, no clocks."""
