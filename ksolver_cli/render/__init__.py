"""Facts to words and pictures: tables, JSON, Markdown, CSV, kubectl lines, phrases."""
