"""The learner to begin with, beside what users would do instead, on real streams: all of it tuned in hindsight."""
