"""Draw the picture of the page on notebooks: cards as they look there, on a light and on a dark page.

Needs ``pip install playwright && playwright install chromium``; then ``python docs/cards.py``.
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import driftwise as dw

PAGES = {"light": "background:#ffffff;color:#222222", "dark": "background:#14181e;color:#dddddd"}


def shown() -> list[Any]:
    """Return what the page on notebooks computes."""
    demand = 20.0 + 8.0 * np.sign(np.sin(np.arange(400) / 40.0)) + np.random.default_rng(0).normal(size=400)
    losses, domain = dw.CapacityLoss(demand, shortage=5.0), dw.Box(0.0, 60.0)
    learner = dw.SelfTunedLearner(domain, switching_cost=4.0)
    trace = dw.play(learner, losses, switching_cost=4.0)
    best = dw.regret.hindsight_optimum(losses, domain, 4.0)
    return [learner, trace, learner.certificate(), best]


def page(things: list[Any]) -> str:
    """Return a page with the cards of some things, light on the left and dark on the right."""
    cards = "<br><br>".join(thing._repr_html_() for thing in things)
    sides = "".join(f'<div style="padding:16px;{style}">{cards}</div>' for style in PAGES.values())
    style = "margin:0;font:14px/1.4 Arial,Helvetica,sans-serif;display:flex;width:max-content"
    return f'<!doctype html><html><head><meta charset="utf-8"></head><body style="{style}">{sides}</body></html>'


def draw(path: Path) -> None:
    """Write the picture."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        file = Path(folder, "cards.html")
        file.write_text(page(shown()), encoding="utf-8")
        browser = play.chromium.launch(executable_path=shutil.which("chromium"))
        tab = browser.new_page(viewport={"width": 1480, "height": 900})
        tab.goto(file.as_uri())
        tab.locator("body").screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "images" / "cards.png")
    draw(parser.parse_args().out)
