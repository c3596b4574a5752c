"""Contests: what everyone cost on one problem, a table and panels of it, and words that say who won."""
