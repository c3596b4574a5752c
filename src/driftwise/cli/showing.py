"""Findings on a terminal: tables that are never cut, short sentences, and claims with their verdicts."""

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from driftwise.experiments.findings.finding import Claim, Finding, Table


def show(console: "Console", finding: "Finding") -> None:
    """Print what was found."""
    from rich.markup import escape

    console.rule(f"[bold]{escape(finding.title)}[/bold]", align="left")
    for table in finding.tables:
        if not table.detail:
            print_table(console, table)
    for bullet in finding.bullets:
        lines = textwrap.wrap(bullet, console.width - 1, initial_indent="- ", subsequent_indent="  ")
        console.print("\n".join(lines), markup=False, soft_wrap=True)
    if finding.claims:
        console.print("\nClaims")
    for claim in finding.claims:
        console.print(f"- {claim}", soft_wrap=True, markup=False)
    console.print()


def print_table(console: "Console", table: "Table") -> None:
    """Print a table, wider than the screen if it has to be: a number that is cut is another number."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table as Grid

    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1))
    for k, name in enumerate(table.header):
        # Numbers are kept whole; sentences are wrapped.
        if all(len(row[k]) <= 30 for row in table.rows):
            grid.add_column(escape(name), justify="right" if k else "left", no_wrap=True)
        else:
            grid.add_column(escape(name), max_width=40)
    for row in table.rows:
        grid.add_row(*map(escape, row))
    console.print(f"\n{table.title}", markup=False)
    width = Measurement.get(console, console.options.update(max_width=1000), grid).maximum
    Console(file=console.file, width=max(width, console.width)).print(grid)


def verdicts(claims: "list[Claim]") -> str:
    """Say how many claims hold, and repeat those that do not."""

    def count(of: "list[Claim]") -> str:
        words = {True: "hold", False: "do not hold", None: "not checked"}
        verdicts = [claim.holds for claim in of]
        return ", ".join(f"{verdicts.count(value)} {text}" for value, text in words.items() if value in verdicts)

    paper = [claim for claim in claims if claim.paper]
    own = f" Of the paper's own {len(paper)}: {count(paper)}." if paper else ""
    failed = [f"\n- {claim}" for claim in claims if claim.holds is False]
    return f"Of {len(claims)} claims: {count(claims)}.{own}{''.join(failed)}"
