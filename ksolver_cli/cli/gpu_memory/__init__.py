"""What the GPU memory commands do once their options are read; loaded by those commands alone."""
