"""Random small clusters, made to meet every rule of a family often."""
