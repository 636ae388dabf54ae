"""The cluster as options or the waterfall want it looked at: constraints dropped, nodes resized."""
