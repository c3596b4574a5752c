"""Settings that all tests share."""

from hypothesis import settings

settings.register_profile("driftwise", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("driftwise")
