"""Tools for people who work on ksolver; not part of the package."""
