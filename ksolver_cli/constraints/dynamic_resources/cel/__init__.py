"""The part of CEL (Common Expression Language) that device selectors use; what lies beyond is declined, not guessed."""
