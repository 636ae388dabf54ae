"""From waves to commands: which pods leave together, how kubectl names them, and how machines end."""
