"""What each constraint costs, drainability, why pending, the waterfall."""
