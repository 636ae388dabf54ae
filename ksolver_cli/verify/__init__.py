"""The referee: replays a plan pod by pod and judges it from the cluster alone."""
