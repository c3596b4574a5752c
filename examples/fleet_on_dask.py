"""A fleet on a cluster
====================

A thousand shops on two worker processes, one of which is killed in the middle of a round.

Every shop decides each day how much to stock; what it has too much costs 1 a piece, what it lacks 3, and changing the
order costs 1 a piece. The learners live on the workers of a Dask cluster, here two processes of this machine. You see
that the decisions after a worker was killed are, bit for bit, those of a fleet in this process; and that the whole run
can be left and gone on with from the folder of its checkpoints.
"""

import os
import signal
import tempfile

import distributed
import numpy as np

import driftwise as dw
from driftwise.adapters.dask import DaskFleet

SHOPS, DAYS, KILL = 1000, 40, 25

rng = np.random.default_rng(0)
demand = 50.0 + 20.0 * rng.random(SHOPS) + rng.normal(size=(DAYS, SHOPS)).cumsum(axis=0)


def gradients(stock: np.ndarray, day: int) -> np.ndarray:
    """Return what one more piece would have cost every shop."""
    return np.where(stock[:, 0] > demand[day], 1.0, -3.0)[:, None]


def main() -> None:
    """Play all days, here and on the cluster."""
    shops = dw.Fleet(dw.SelfTunedScream(dw.Box([0.0], [100.0]), switching_cost=1.0), SHOPS)
    with (
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        with shops.on_dask(client, checkpoint=folder, every=10) as far:
            print(far)
            for day in range(DAYS):
                stock = far.act()
                assert np.array_equal(stock, shops.act())
                if day == KILL:
                    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
                    print(f"day {day}: a worker is killed, {day % 10} days after a checkpoint")
                far.observe(gradients(stock, day))
                shops.observe(gradients(stock, day))
            print(f"day {DAYS}: {np.count_nonzero(far.act() != shops.act())} of {SHOPS} decisions differ")
        with DaskFleet.resume(client, folder) as again:
            same = np.array_equal(again.act(), shops.act())
            print(f"resumed: go on with day {again.round}; {'the same' if same else 'other'} decisions")


if __name__ == "__main__":
    main()
