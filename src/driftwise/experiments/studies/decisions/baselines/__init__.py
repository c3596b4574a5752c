"""What users would do instead: ten-line rules, each at every setting of a grid at once."""
