"""How labels, taints and namespaces select, and running counts of the pods that a selector counts."""
