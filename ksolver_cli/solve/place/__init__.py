"""Where every pod goes once it is known what a class should hold: construction, repair, polish."""
