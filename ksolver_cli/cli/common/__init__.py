"""What commands share: exit codes, errors, configuration, options, output, progress."""
