"""Packages that are optional: imported if they are there, named with their extra if not."""

import sys

import pytest

from driftwise._extras import optional
from driftwise.errors import MissingExtraError


def test_what_is_there_is_imported() -> None:
    assert optional("sums", "json.decoder", "plot") is sys.modules["json.decoder"]


def test_what_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "decoders.fast", None)
    with pytest.raises(MissingExtraError) as missing:
        optional("sums", "decoders.fast", "plot")
    assert str(missing.value) == "sums needs decoders, which the extra 'plot' brings: pip install 'driftwise[plot]'."
    assert isinstance(missing.value, ImportError)
