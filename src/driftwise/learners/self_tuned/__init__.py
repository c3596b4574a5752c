"""The learner to begin with: estimators, movers and one Hedge."""

from driftwise.learners.self_tuned.learner import SelfTunedLearner

__all__ = ["SelfTunedLearner"]
