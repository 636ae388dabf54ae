"""Facts of the report, one section a file; words and pictures are made in `render`."""
