"""What a person types: one command a file, each parse → call pipeline → render."""
