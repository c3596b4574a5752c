"""Pools of (estimator, mover) pairs under one Hedge, compiled: how a round is read, and who moves how far."""
