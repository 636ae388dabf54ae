"""What a snapshot keeps of each kind, field by field: an allow-list that redaction and anonymizing both read."""
