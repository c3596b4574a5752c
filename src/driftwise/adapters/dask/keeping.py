"""Where the checkpoints of a fleet's shards are: in files that all machines see, or in the memory of the front.

A checkpoint of the whole fleet is one file a shard, and then ``fleet.safetensors``, which names them. It is written
last and put in its place in one step, so that a folder always holds one whole checkpoint, whenever a process is killed.
"""

import contextlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise._container import pack, unpack
from driftwise._files import make_folder, read_limited, read_path, write_atomically
from driftwise.errors import CheckpointError, ParameterError, StorageError

INDEX = "fleet.safetensors"
"""The file that names the others."""

KIND = "dask fleet"
SCHEMA = 1
SHARD = "shard-*.safetensors"


class Folder:
    """A folder of checkpoints.

    Parameters
    ----------
    owner : str
        Who complains.
    path : str or path
        The folder, by a name that it has on all machines.
    """

    def __init__(self, owner: str, path: Any) -> None:
        self.owner, self.path = owner, read_path(owner, path).absolute()

    def make(self) -> None:
        """Make the folder, for a fleet that has none yet."""
        make_folder(self.owner, self.path)
        if (self.path / INDEX).exists():
            raise ParameterError(
                f"{self.owner}: {self.path} holds the checkpoints of a fleet; go on with it by "
                f"DaskFleet.resume(client, {str(self.path)!r}), or give checkpoint= another folder."
            )

    def name(self, shard: int, round: int) -> str:
        """Return a new name of a file for a shard; a shard that was given up for lost may still write to its own."""
        return str(self.path / f"shard-{shard:05d}-{round:012d}-{secrets.token_hex(4)}.safetensors")

    def commit(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], files: list[str]) -> None:
        """Make these files the checkpoint, and remove all others of the fleet."""
        for file in files:
            if not Path(file).exists():
                raise StorageError(
                    f"{self.owner}: a worker has written {file}, and it is not there: checkpoint= must be a folder "
                    "that all machines share, under one name."
                )
        names = [Path(file).name for file in files]
        whole = {"schema": SCHEMA, "kind": KIND, "files": names, **header}
        write_atomically(self.owner, self.path / INDEX, *pack(whole, arrays))
        for old in self.path.glob(SHARD):
            if old.name not in names:
                with contextlib.suppress(OSError):
                    old.unlink()

    def read(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]], list[str]]:
        """Return the header, the arrays and the files of the last whole checkpoint."""
        header, arrays = unpack(self.owner, read_limited(self.owner, self.path / INDEX))
        if header.get("kind") != KIND or header.get("schema") != SCHEMA:
            raise CheckpointError(f"{self.owner}: {self.path / INDEX} is no index of a fleet's shards that this reads.")
        try:
            files = [str(self.path / Path(name).name) for name in header["files"]]
            round, number, sizes, ids = header["round"], header["next"], arrays["sizes"], arrays["ids"]
            sound = (
                isinstance(round, int)
                and isinstance(number, int)
                and ids.dtype == sizes.dtype == arrays["local"].dtype == np.int64
                and sizes.size == len(files) >= 1
                and int(sizes.min()) >= 0
                and int(sizes.sum()) == ids.size == arrays["local"].size
                and bool(np.all(np.diff(ids) > 0))
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.owner}: {self.path / INDEX} lacks {error}.") from None
        if not sound:
            raise CheckpointError(f"{self.owner}: {self.path / INDEX} contradicts itself; use an earlier copy.")
        return header, arrays, files
