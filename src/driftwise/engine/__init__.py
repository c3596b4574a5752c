"""The engine: N base-learners mixed by Hedge, one round or a whole run, compiled."""

from driftwise.engine.program import Program

__all__ = ["Program"]
