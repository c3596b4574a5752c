"""Fleets beyond one machine: shards as Dask actors, and backtests with one task a shard."""

from driftwise.adapters.dask.backtest import backtest
from driftwise.adapters.dask.front import DaskFleet

__all__ = ["DaskFleet", "backtest"]
