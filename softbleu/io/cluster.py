"""Dask clusters: the executor of a scheduler somewhere, or of workers that are started here."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from softbleu.errors import InputError, MissingExtraError, Parameter
from softbleu.io.arguments import MOST_JOBS
from softbleu.io.tasks import other_version, reason_of
from softbleu.version import __version__

_LOCAL = "local:"
_RETRIES = 3
_CONNECT = 10  # Seconds in which a scheduler must answer
_JOIN = 60  # Seconds in which a first worker must be there
_SPAWNED = "distributed.nanny.pre-spawn-environ"
_LOCAL_SETTINGS = {
    # Dask has memory given back at once, which the arrays of each block then ask for again.
    **{f"{_SPAWNED}.MALLOC_{name}_THRESHOLD_": 1 << 28 for name in ("TRIM", "MMAP")},
    # It looks at itself many times a second, which takes the command 4% of a core, and keeps what it has seen.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "2s",
}


@contextmanager
def cluster_executor(address: str, jobs: int = 1) -> Iterator[Executor]:
    """The executor of a Dask cluster: that of the scheduler at an address, or so many workers here by ``local:N``.

    Workers here are started when there is work for them, no more than there are tasks.
    """
    if jobs != 1:
        raise InputError(Parameter("cluster"), " says where the work is done: leave out ", Parameter("jobs"))
    with _open_client(address) as client:
        executor = client.get_executor(retries=_RETRIES, pure=False)
        if address.startswith(_LOCAL):
            executor._max_workers = int(address.removeprefix(_LOCAL))
        yield executor


@contextmanager
def _open_client(address: str) -> Iterator[Any]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtraError("a cluster needs another package: pip install 'softbleu[dask]'") from None
    # What goes wrong is told in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        # Tables of words are sent by value, once a worker.
        warnings.filterwarnings("ignore", message="Sending large graph")
        place: Any = address
        named = Parameter("cluster", address)
        if address.startswith(_LOCAL):
            jobs = address.removeprefix(_LOCAL)
            if not (jobs.isascii() and jobs.isdecimal() and 1 <= int(jobs[:9]) <= MOST_JOBS):
                raise InputError(named, f": {_LOCAL}N needs a number from 1 to {MOST_JOBS}, not {jobs!r}")
            stack.enter_context(import_module("dask").config.set(_LOCAL_SETTINGS))
            how = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
            place = stack.enter_context(distributed.LocalCluster(n_workers=0, **how))
            # The first worker starts while text is found.
            place.scale(1)
        else:
            # A client that something else answers cannot be closed again.
            with _told(named, ": no scheduler answers there"):
                asyncio.run(_greet(distributed, address))
        with _told(named, ": no scheduler answers there"):
            client = stack.enter_context(distributed.Client(place, timeout=_CONNECT, set_as_default=False))
        if place is not address:
            yield client
            return
        with _told(named, f": no workers: start some by 'dask worker {address}'"):
            client.wait_for_workers(1, timeout=_JOIN)
        for worker, versions in client.get_versions(packages=["softbleu"])["workers"].items():
            if (version := versions["packages"]["softbleu"]) != __version__:
                raise InputError(named, f": the worker {worker} has {other_version(version)}")
        yield client


async def _greet(distributed: Any, address: str) -> None:
    """See that what answers there is a scheduler."""
    secured = distributed.Security().get_connection_args("client")
    connection = await asyncio.wait_for(distributed.comm.connect(address, timeout=_CONNECT, **secured), 2 * _CONNECT)
    await connection.close()


@contextmanager
def _told(*what: str | Parameter) -> Iterator[None]:
    try:
        yield
    # What something else answers ends in errors of as many kinds as there are programs.
    except Exception as error:
        raise InputError(*what, f" ({reason_of(error)})") from error
