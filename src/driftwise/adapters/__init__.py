"""Driftwise in what other people build with: river, scikit-learn, Gymnasium, python-control, JAX, Dask, bytewax."""
