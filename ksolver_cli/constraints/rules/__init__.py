"""What the families demand of counts, in the vocabulary that every solver understands."""
