"""Work out what very many learners need: memory, network, processors, and what they would cost in a day.

Run with ``python benchmarks/billion.py``. What a member takes of memory and of a processor is measured first, on a
fleet on this machine, unless it is given. Prices are never assumed: without ``--core-hour`` and the like there is no
sum.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import driftwise as dw

GB = 1e9
DAYS = 30.0
"""Days of a month, for prices by the month."""


@dataclass(frozen=True)
class Need:
    """What a fleet needs, from what a member does.

    Attributes
    ----------
    members, rounds, dim : float
        Number of members, rounds of each in a day, coordinates of a decision.
    member_bytes : float
        Memory of a member, as `Fleet.bytes_per_member` says.
    microseconds : float
        Time of one core for a round of a member.
    every : float
        Rounds between two checkpoints.
    busiest : float
        How many times the mean the busiest second of the day has; the cores are for that second.
    """

    members: float
    rounds: float
    dim: float
    member_bytes: float
    microseconds: float
    every: float
    busiest: float

    @property
    def memory(self) -> float:
        """Gigabytes of states on the workers."""
        return self.members * self.member_bytes / GB

    @property
    def round_traffic(self) -> float:
        """Gigabytes that travel in a round: gradients there and decisions back, 8 bytes a number."""
        return self.members * 2.0 * 8.0 * self.dim / GB

    @property
    def traffic(self) -> float:
        """Gigabytes that travel in a day."""
        return self.round_traffic * self.rounds

    @property
    def kept(self) -> float:
        """Gigabytes of feedback that the fronts keep at most, to send it again."""
        return self.members * 8.0 * self.dim * self.every / GB

    @property
    def written(self) -> float:
        """Gigabytes of checkpoints written in a day."""
        return self.memory * self.rounds / self.every

    @property
    def core_hours(self) -> float:
        """Hours of cores in a day."""
        return self.members * self.rounds * self.microseconds / 1e6 / 3600.0

    @property
    def cores(self) -> float:
        """Cores at work in the busiest second."""
        return self.core_hours / 24.0 * self.busiest

    @property
    def link(self) -> float:
        """Gigabits a second in the busiest second, over all links."""
        return self.traffic * 8.0 / 86_400.0 * self.busiest

    def bill(self, core_hour: float, memory_month: float, traffic_gb: float, storage_month: float) -> dict[str, float]:
        """Return what a day costs, with cores that are paid for all day, and two checkpoints on disks."""
        return {
            "cores": self.cores * 24.0 * core_hour,
            "memory": (self.memory + self.kept) * memory_month / DAYS,
            "network": self.traffic * traffic_gb,
            "checkpoints": 2.0 * self.memory * storage_month / DAYS,
        }


def measured(members: int, dim: int, rounds: int = 20) -> tuple[float, float]:
    """Return bytes and microseconds of one core for a member, of a fleet of self-tuned learners on this machine."""
    box = dw.Box(np.full(dim, -1.0), np.full(dim, 1.0))
    fleet = dw.Fleet(dw.SelfTunedScream(box, switching_cost=1.0), members, workers=1)
    gradients = np.random.default_rng(0).normal(size=(members, dim))
    least = float("inf")
    for _ in range(rounds + 1):
        fleet.act()
        start = time.process_time()
        fleet.observe(gradients)
        fleet.act()
        least = min(least, time.process_time() - start)
    return fleet.bytes_per_member, least / members * 1e6


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=float, default=1e9)
    parser.add_argument("--rounds", type=float, default=24.0, help="rounds of a member in a day")
    parser.add_argument("--dim", type=int, default=1)
    parser.add_argument("--every", type=float, default=10.0, help="rounds between checkpoints")
    parser.add_argument("--busiest", type=float, default=3.0, help="busiest second over the mean one")
    parser.add_argument("--member-bytes", type=float, help="memory of a member; measured if not given")
    parser.add_argument("--microseconds", type=float, help="time of a core for a member's round; measured if not given")
    parser.add_argument("--sample", type=int, default=100_000, help="members to measure with")
    prices = {
        "core-hour": "a core for an hour",
        "memory-month": "a GB of memory for a month",
        "traffic-gb": "a GB over the network",
        "storage-month": "a GB of disk for a month",
    }
    for name, what in prices.items():
        parser.add_argument(f"--{name}", type=float, help=f"price of {what}")
    options = parser.parse_args(arguments)
    member_bytes, microseconds = options.member_bytes, options.microseconds
    if member_bytes is None or microseconds is None:
        found = measured(options.sample, options.dim)
        member_bytes = found[0] if member_bytes is None else member_bytes
        microseconds = found[1] if microseconds is None else microseconds
    need = Need(
        options.members, options.rounds, options.dim, member_bytes, microseconds, options.every, options.busiest
    )
    rows = [
        ("members", need.members, ""),
        ("rounds of each in a day", need.rounds, ""),
        ("memory of a member", need.member_bytes, "bytes"),
        ("a member's round on one core", need.microseconds, "us"),
        ("states in memory", need.memory, "GB"),
        ("feedback kept by the fronts", need.kept, "GB"),
        ("checkpoints written in a day", need.written, "GB"),
        ("network, a round", need.round_traffic, "GB"),
        ("network, a day", need.traffic, "GB"),
        ("network, busiest second", need.link, "Gbit/s"),
        ("core-hours in a day", need.core_hours, "h"),
        ("cores, busiest second", need.cores, ""),
    ]
    for name, value, unit in rows:
        print(f"{name:<32}{value:>16,.6g} {unit}".rstrip())
    given = [getattr(options, name.replace("-", "_")) for name in prices]
    if None in given:
        missing = ", ".join(f"--{name}" for name, value in zip(prices, given, strict=True) if value is None)
        print(f"\nno sum: prices are yours to give ({missing})")
        return
    print("\na day at the prices given")
    bill = need.bill(*given)
    for name, value in (*bill.items(), ("together", sum(bill.values()))):
        print(f"{name:<32}{value:>16,.2f}")


if __name__ == "__main__":
    main()
