"""A model of GPU memory: physics of training and serving neural networks, in bytes per GPU."""
