"""A committee of the user's own policies: its verbs, its weights, and the draw of the member that is followed."""

from driftwise.learners.committee.committee import Committee

__all__ = ["Committee"]
