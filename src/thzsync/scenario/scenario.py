"""The scenario: everything a run depends on, apart from the seed and the policy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field, SerializeAsAny, model_validator

from thzsync import plugins
from thzsync.errors import ThzSyncError
from thzsync.files import content_digest
from thzsync.registry import Foreign, note_elsewhere, only_here
from thzsync.scenario.base import Model
from thzsync.scenario.consistency import (
    air_problems,
    buffer_problems,
    floor_problems,
    index_problems,
    partition_problems,
    radio_problems,
)
from thzsync.scenario.energy import Energy
from thzsync.scenario.fabric import Channel, Optical, Thz
from thzsync.scenario.faults import Fault
from thzsync.scenario.floor import FLOORS, FloorKind
from thzsync.scenario.job import OLD_SEARCHES, Collectives, Coordinator, Job, Reward, Stragglers
from thzsync.scenario.kinds import OneOf
from thzsync.scenario.network import NETWORKS, NetworkKind, RingNetwork

_OLD_NAMES: Final = {new: old for old, new in OLD_SEARCHES.items()}
_NEW: Final = {
    "": ("network", "carriers", "energy", "plugins", "parameters"),
    "reward": ("energy",),
    "thz": ("rate", "transmit_gain_db", "antenna", "interference", "interference_headroom_db"),
    "channel": ("path_loss", "absorption", "vary_gains_file"),
}
"""Keys that version 0.2 did not have, by table."""


class Scenario(Model):
    """A data centre, its jobs, and what can go wrong."""

    name: str = "scenario"
    """Name in tables and records."""
    plugins: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    """Modules to import first, such as "my_lab.methods"; "FOLDER/my_lab.methods" where Python does
    not find it."""
    floor: Annotated[FloorKind, OneOf(FLOORS, "rings")]
    """Positions of the racks."""
    network: Annotated[NetworkKind, OneOf(NETWORKS, "rings")] = RingNetwork()
    """Switches and fibres."""
    optical: Optical = Optical()
    """The optical packet network."""
    thz: Thz = Thz()
    """The THz transceivers."""
    channel: Channel = Channel()
    """THz propagation."""
    energy: Energy = Energy()
    """Energy at the wall plug, and static power."""
    collectives: Collectives = Collectives()
    """Chunks, and the method of every collective."""
    stragglers: Stragglers = Stragglers()
    """Stragglers."""
    reward: Reward = Reward()
    """The objective's weights."""
    coordinator: Coordinator = Coordinator()
    """The action space."""
    parameters: dict[str, SerializeAsAny[Model]] = Field(default_factory=dict)
    """Keys of methods, disciplines, carriers and policies of plug-ins, in a table for each name."""
    carriers: Annotated[tuple[str, ...], Field(min_length=1, max_length=100)] = ("thz",)
    """Carriers beside fibre by name; "thz" is the first."""
    jobs: Annotated[tuple[Job, ...], Field(max_length=1000)] = ()
    """Training jobs on disjoint partitions."""
    faults: Annotated[tuple[Fault, ...], Field(max_length=10_000)] = ()
    """Scheduled faults."""

    @classmethod
    def load(cls, path: str | Path, plugins: Iterable[str] = ()) -> Scenario:
        """Read a TOML file, or a preset by its name; ``plugins`` are added to its own."""
        from thzsync.scenario.files import load_scenario

        return load_scenario(path, plugins)

    @classmethod
    def of(cls, given: ScenarioLike) -> Scenario:
        """The scenario itself, or the one with this preset name or path."""
        if isinstance(given, Scenario):
            return given
        if isinstance(given, (str, Path)):
            return cls.load(given)
        raise ThzSyncError(
            f"scenario: found {type(given).__name__}; give a Scenario, a preset's name or a path"
        )

    @classmethod
    def preset(cls, name: str) -> Scenario:
        """One of the presets that come with the package."""
        from thzsync.scenario.files import load_preset

        return load_preset(name)

    @classmethod
    def paper(cls) -> Scenario:
        """The paper's 32 racks on 4 rings."""
        return cls.preset("paper")

    def with_(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Scenario:
        """A variant, validated like a file: ``with_({"thz.subbands": 8})``.

        In keyword arguments, two underscores replace a dot: ``with_(thz__subbands=8)``.
        """
        from thzsync.scenario.changes import changed

        dotted = {key.replace("__", "."): value for key, value in more.items()}
        return changed(self, {**(changes or {}), **dotted}, f"scenario {self.name}")

    def with_overlays(self, *names: str | Path) -> Scenario:
        """The scenario with overlays, each over those before: names, or paths of TOML files."""
        from thzsync.scenario.overlays import with_overlays

        return with_overlays(self, names)

    def parameters_for(self, thing: Any) -> Any:
        """The section of an object that is found by name; None if it has no parameters."""
        from thzsync.scenario.parameters import section_of

        return section_of(thing, self.parameters)

    def to_toml(self) -> str:
        """The resolved scenario as TOML that loads to an equal scenario."""
        from thzsync.scenario.files import dump_toml

        return dump_toml(self)

    def __repr__(self) -> str:
        jobs = ", ".join(job.name for job in self.jobs)
        return f"Scenario({self.name!r}, racks={self.floor.racks}, jobs=[{jobs}])"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """What a notebook shows: one line per part."""
        from thzsync.display.html import notebook_view
        from thzsync.scenario.summary import summary_table

        return notebook_view(summary_table(self), {"SHA-256": self.digest[:12]})

    @property
    def digest(self) -> str:
        """SHA-256 of all that determines a result: every key, and the content of named files."""
        values = self.model_dump(mode="json")
        _leave_out_what_was_not_there(self, values)
        if self.plugins:  # the content counts, not the place
            values["plugins"] = {
                name: of["sha256"] for name, of in plugins.told(self.plugins).items()
            }
        for table, key in (
            (values["channel"], "gains_file"),
            (values.get("network", {}), "file"),
            *((j, "trace") for j in values["jobs"]),
        ):
            if table.get(key) is not None:  # the content counts, not the path
                table[key] = {"sha256": content_digest(table[key])}
        # Values that were renamed count under their old names, so that older records stay valid.
        search = values["coordinator"]["search"]
        values["coordinator"]["search"] = _OLD_NAMES.get(search, search)
        canonical = json.dumps(values, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Whoever unpickles a scenario loads its plug-ins first."""
        sent = plugins.sent(self.plugins)
        further = only_here(plugin.name for plugin in sent)
        if not sent and not further:
            return super().__reduce_ex__(protocol)
        return _unpickled, (type(self), sent, further), self.__getstate__()

    @model_validator(mode="before")
    @classmethod
    def _plugins_first(cls, values: Any) -> Any:
        """Their sections may be of kinds that plug-ins bring, or of objects."""
        if not isinstance(values, dict):
            return values
        named, sections = values.get("plugins"), values.get("parameters")
        if isinstance(named, (list, tuple)) and all(isinstance(name, str) for name in named):
            values = values | {"plugins": plugins.load(named, "plugins")}
        if isinstance(sections, dict) and sections:
            from thzsync.scenario.parameters import checked

            values = values | {"parameters": checked(sections)}
        return values

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        checks = partition_problems, index_problems, buffer_problems, air_problems, radio_problems
        problems = [*floor_problems(self)] or [line for check in checks for line in check(self)]
        if problems:
            raise ValueError("\n".join(problems))
        return self


def _unpickled(
    kind: type[Scenario], sent: tuple[plugins.Plugin, ...], further: tuple[Foreign, ...]
) -> Scenario:
    note_elsewhere(further)
    plugins.receive(sent)
    return kind.__new__(kind)


def _leave_out_what_was_not_there(scenario: Scenario, values: dict[str, Any]) -> None:
    """Scenarios that version 0.2 could say keep their digest: studies begun with it go on."""
    for name, keys in _NEW.items():
        model, table = (getattr(scenario, name), values[name]) if name else (scenario, values)
        for key in keys:
            default = type(model).model_fields[key].get_default(call_default_factory=True)
            if getattr(model, key) == default:
                del table[key]
    if values["floor"]["kind"] == "rings":
        del values["floor"]["kind"]
    for fault in values["faults"]:
        if fault["kind"] == "fibre" and fault["switches"] is None:
            del fault["switches"]
    for job in values["jobs"]:
        for key in [key for key in ("stages", "workload") if job[key] is None]:
            del job[key]


ScenarioLike: TypeAlias = Scenario | str | Path
"""What public functions accept: a scenario, the name of a preset, or the path of a file."""
