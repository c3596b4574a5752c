"""The paper's experiments as data: a configuration goes in, rows of numbers come out."""
