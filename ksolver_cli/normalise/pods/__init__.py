"""Pods: what one asks of a node, what it tolerates and attracts, and who owns it."""
