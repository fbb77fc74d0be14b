"""Locks and properties for a process that is forked while other threads score: the child never waits for those."""

from __future__ import annotations

import functools
import os
import sys
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if sys.version_info >= (3, 12) or TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """A property that is computed once, without the lock that Python 3.11 has for all objects of a class."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            # Where two threads compute it, both get the value of the first.
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


__all__ = ["cached_property", "free_at_forks", "lock"]


class _Lock(Protocol):
    def acquire(self) -> Any: ...
    def release(self) -> Any: ...


_AnyLock = TypeVar("_AnyLock", bound=_Lock)


def free_at_forks(held: _AnyLock) -> _AnyLock:
    """Have the process forked only while no other thread has a lock; parent and child then have it free."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=held.acquire, after_in_parent=held.release, after_in_child=held.release)
    return held


def lock() -> RLock:
    """Make a lock that no other thread holds when the process is forked.

    >>> with lock():
    ...     pass
    """
    return free_at_forks(RLock())
