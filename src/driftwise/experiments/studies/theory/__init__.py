"""The theory, checked by running it: bounds, growth in rounds and prices, lower-bound adversaries, two solvers."""
