"""Control by outputs y = C x: an observer, and the self-tuned controller on what it estimates."""

from driftwise.control.output.feedback import OutputFeedback

__all__ = ["OutputFeedback"]
