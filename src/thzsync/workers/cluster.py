"""A Dask cluster that is already running somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from thzsync.errors import ThzSyncError, in_one_line
from thzsync.workers.call import Answer, Call, News, carry_out

PATIENCE: Final = "10s"


class Cluster:
    """Calls become tasks of the cluster; those of a worker that dies are done by another."""

    def __init__(self, address: str) -> None:
        self._client = _connect(address)
        if not self._client.scheduler_info(n_workers=-1)["workers"]:
            self.close()
            raise ThzSyncError(
                f"--scheduler: {address} has no workers; start some with `dask worker {address}`"
            )

    def run(self, calls: Sequence[Call], news: News) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished; a cluster has no news of it."""
        from distributed import as_completed

        futures: dict[Any, int] = {
            self._client.submit(carry_out, call, pure=False): position
            for position, call in enumerate(calls)
        }
        for future in as_completed(list(futures), loop=self._client.loop):
            yield futures[future], _answer(future)

    def close(self) -> None:
        """Leave the cluster; what we asked for and nobody needs is dropped there."""
        self._client.close()


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise ThzSyncError(
            "--scheduler: Dask is not installed; install it with `pip install 'thzsync[cluster]'`"
        ) from None
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ThzSyncError(
            f"--scheduler: no scheduler answers at {address} ({in_one_line(error)}); "
            f"start `dask scheduler` there"
        ) from None


def _answer(future: Any) -> Answer:
    problem = future.exception()
    if problem is None:
        answer: Answer = future.result()
        return answer
    return Answer(error=f"the cluster gave up on this run ({in_one_line(problem)})")
