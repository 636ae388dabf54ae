"""The Kubernetes API as far as it is read: discovery, lists, and questions about one's own rights."""
