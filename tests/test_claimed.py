"""Small files that claim much: a huge number in a configuration is refused, or takes no memory."""

import subprocess
import sys

import pytest


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are Linux's")
def test_no_number_in_a_configuration_makes_loading_take_much_memory() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.claimed"], capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    (said,) = ran.stdout.splitlines()
    refused, loaded = map(int, said.split())
    assert refused > loaded > 100
