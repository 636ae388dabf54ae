"""What holds for every test."""

from hypothesis import settings

# A busy machine is no fault of the code: no test has a deadline.
settings.register_profile("house", deadline=None)
settings.load_profile("house")
