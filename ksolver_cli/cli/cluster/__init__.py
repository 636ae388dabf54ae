"""The work behind the commands that speak to a cluster; apart from them, so that `--help` loads nothing heavy."""
