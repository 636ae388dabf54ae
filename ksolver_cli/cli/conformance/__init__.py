"""The work behind `ksolver conform`; apart from it, so that `--help` loads nothing heavy."""
