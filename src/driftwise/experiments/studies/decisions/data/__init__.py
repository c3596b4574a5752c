"""The real streams that are played: which there are, where they are from, and the problems made of them."""
