"""What kube-scheduler would do with each evicted pod, replayed on arrays."""
