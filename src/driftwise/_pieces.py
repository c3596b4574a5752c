"""A long compiled run in pieces, so that Ctrl-C ends it at once.

The main thread runs a compiled loop without looking up: Python handles a signal between two of its own instructions,
and a compiled loop is one of them. So a run goes through its loop in pieces that take some hundredths of a second each.
Rounds are the same, in the same order, on the same arrays, whatever the pieces are.
"""

import threading
from collections.abc import Callable
from time import perf_counter

PIECE = 0.03
"""Seconds that a piece should take: far more than it costs to begin one, and too little to wait for."""

GROWTH = 16
"""How many times as many rounds as the one before a piece may have: a few rounds may have been quick by chance."""


def in_pieces(play: Callable[[int, int], int], rounds: int) -> None:
    """Play rounds 0, 1, ... in pieces, each of as many as fit in a few hundredths of a second, by the ones before.

    The first piece has one round, as nothing is known about it. Only the main thread is interrupted by Ctrl-C, so any
    other thread plays everything in one piece.

    Parameters
    ----------
    play : callable
        ``play(first, stop)`` plays some rounds from `first` on, `stop` at most, and returns the round that comes next:
        `stop`, or one before it where something else had to be done in between. It raises to end the run.
    rounds : int
        How many rounds there are.

    Examples
    --------
    >>> from driftwise._pieces import in_pieces
    >>> done = []
    >>> def play(first, stop):
    ...     done.extend(range(first, stop))
    ...     return stop
    >>> in_pieces(play, 1000)
    >>> done == list(range(1000))
    True
    """
    first = 0
    size = 1 if threading.current_thread() is threading.main_thread() else rounds
    while first < rounds:
        began = perf_counter()
        following = play(first, min(first + size, rounds))
        if size < rounds:
            took = max(perf_counter() - began, 1e-9)
            size = min(max(1, int((following - first) * min(PIECE / took, GROWTH))), rounds)
        first = following
