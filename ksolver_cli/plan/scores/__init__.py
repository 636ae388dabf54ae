"""kube-scheduler's Score plugins of the default profile, one file a plugin, on arrays of candidate nodes."""
