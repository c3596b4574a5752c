"""Driftwise in other people's engines: a fleet on a Dask cluster, learners by key in a bytewax dataflow."""
