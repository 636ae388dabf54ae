"""DynamicResources: devices for the claims of a pod, found as kube-scheduler's structured allocator finds them."""
