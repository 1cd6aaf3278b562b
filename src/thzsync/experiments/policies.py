"""Policies to compare: registered names, and objects, classes or functions of the caller."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final
from uuid import uuid4

from thzsync.coordinator import PolicyLike, policy_names
from thzsync.coordinator.registry import POLICIES, find_policy
from thzsync.errors import ThzSyncError

Policies = Mapping[str, PolicyLike] | Iterable[PolicyLike]
"""Policies in order, under their own names or under those of a mapping."""
NAME: Final = re.compile(r"\w[\w .,=+-]*")
"""What a policy may be called: it becomes the name of a folder."""


@dataclass(frozen=True, eq=False)
class Own:
    """A policy or a factory that this process knows, and a worker perhaps does not."""

    source: Any

    @cached_property
    def _pickled(self) -> bytes | None:
        """What it consists of, its code by reference; None if parts of it cannot be referred to."""
        try:
            return pickle.dumps(self.source)
        except (AttributeError, TypeError, pickle.PicklingError):
            return None

    @cached_property
    def sendable(self) -> bool:
        """Whether a worker can load it: its code lies in modules, not in the running program."""
        found = all(getattr(module, "__spec__", None) is not None for module in self._modules)
        return found and self._pickled is not None and b"__main__" not in self._pickled

    @cached_property
    def lasting(self) -> bool:
        """Whether later processes can tell that it is the same."""
        return self._pickled is not None and all(map(_text, self._modules))

    @cached_property
    def identity(self) -> str:
        """Names what it holds and the source of its modules."""
        if not self.lasting:
            return uuid4().hex
        texts = (_text(module).encode() for module in self._modules)
        return hashlib.sha256(b"\0".join((self._pickled or b"", *texts))).hexdigest()

    @property
    def _modules(self) -> Iterator[Any]:
        """Modules of its class and of the classes above, or of its function."""
        made = self.source.func if isinstance(self.source, partial) else self.source
        if not isinstance(made, type) and not inspect.isfunction(made):
            made = type(made)
        kinds = made.__mro__ if isinstance(made, type) else [made]
        names = dict.fromkeys(kind.__module__ for kind in kinds)
        return (sys.modules.get(name) for name in names if name not in sys.stdlib_module_names)


def _text(module: Any) -> str:
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):  # of a notebook, or of a prompt
        return ""


def given_policies(policies: Policies = ()) -> dict[str, Own | None]:
    """The policies by name, all registered ones when none is given; None where workers know it."""
    if isinstance(policies, Mapping):
        named = list(policies.items())
    else:
        named = [(_name_of(policy), policy) for policy in policies]
    named = named or [(name, name) for name in policy_names()]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise ThzSyncError(f"policies: {', '.join(names)} names one twice; name each once")
    return {name: given_policy(name, policy) for name, policy in named}


def _name_of(policy: PolicyLike) -> str:
    name = policy if isinstance(policy, str) else getattr(policy, "name", None)
    if isinstance(name, str):
        return name
    raise ThzSyncError(f"policies: {policy!r} has no name; give it one as in {{'mine': policy}}")


def given_policy(name: str, policy: PolicyLike) -> Own | None:
    """A policy under a name; None if every worker knows it by this name."""
    source = find_policy(policy) if isinstance(policy, str) else policy
    if POLICIES.known().get(name, source) is not source:
        raise ThzSyncError(f"policies: {name!r} is another policy; choose another name")
    if not NAME.fullmatch(name):
        raise ThzSyncError(f"policies: found the name {name!r}; use letters, digits and -")
    known = name == policy and name not in POLICIES.registered
    return None if known else Own(source)
