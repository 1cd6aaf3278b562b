"""What an endpoint of an InfraGraph edge means: ``server[0:4]`` with ``nic`` or ``cx5[0].nic``."""

from __future__ import annotations

from itertools import product
from typing import Any, Final, TypeAlias

from thzsync.network.importers.source import MOST_LINKS, Source, shown

Named: TypeAlias = dict[str, dict[str, Any]]
Port: TypeAlias = tuple[str, int, str]
"""Instance, its index, and the component."""
MOST_COUNT: Final = 2**31 - 1
MOST_PORTS: Final = 8 * MOST_LINKS
"""Components that the endpoints of all edges may mean."""
DEEPEST: Final = 16
KINDS: Final = ("xpu", "nic", "port", "switch")
"""Choices of components that tell what an instance is."""


def named(source: Source, holder: dict[str, Any], place: str, key: str) -> Named:
    """The mappings of a list, by their names."""
    found: Named = {}
    for number, one in enumerate(source.get(holder, place, key, list)):
        at = f"{place}.{key}[{number}]".lstrip(".")
        if not isinstance(one, dict):
            raise source.wrong(at, f"found {shown(one)}", "give a mapping with a name")
        name = source.get(one, at, "name", str)
        if name in found or not 0 < len(name) < 200:
            remedy = "give each a short name of its own"
            raise source.wrong(f"{at}.name", f"found {shown(name)}", remedy)
        found[name] = one
    return found


class Endpoints:
    """Instances and the components of devices."""

    def __init__(self, source: Source, document: dict[str, Any]) -> None:
        self.source, self.ports = source, 0
        devices = named(source, document, "", "devices")
        self.components = {
            name: named(source, device, f"device {name}", "components")
            for name, device in devices.items()
        }
        self.kinds = {
            device: {kind for one in parts.values() if (kind := one.get("choice")) in KINDS}
            for device, parts in self.components.items()
        }
        self.inner = {
            device: [part for part, one in parts.items() if one.get("choice") == "device"]
            for device, parts in self.components.items()
        }
        self.instances = named(source, document, "", "instances")
        self.device, self.counts = {}, {}
        for name, one in self.instances.items():
            self.device[name] = source.get(one, f"instance {name}", "device", str)
            self.counts[name] = self._count(one, f"instance {name}")
            if self.device[name] not in devices:
                problem = f"there is no device {shown(self.device[name])}"
                raise source.wrong(f"instance {name}", problem, "add it to devices")

    def _count(self, one: dict[str, Any], place: str) -> int:
        return self.source.whole(f"{place}.count", one.get("count"), 1, MOST_COUNT)

    def choices(self, instance: str) -> set[str]:
        """What there is in an instance, also in the devices that its device is composed of."""
        devices = [self.device[instance]]
        for outer in devices:
            for part in self.inner[outer]:
                if part not in self.components or len(devices) > DEEPEST:
                    remedy = f"add it to devices; a device is composed of at most {DEEPEST}"
                    place = f"device {outer}.{part}"
                    raise self.source.wrong(place, "there is no such device", remedy)
                if part not in devices:
                    devices.append(part)
        return set().union(*(self.kinds[device] for device in devices))

    def meant(self, endpoint: dict[str, Any], place: str) -> tuple[list[Port], bool]:
        """The components in their order; whether it says ``port``, for all that there are."""
        texts = [self.source.get(endpoint, place, k, str) for k in ("instance", "component")]
        name = texts[0].partition("[")[0]
        if name not in self.instances:
            problem = f"there is no instance {shown(name)}"
            raise self.source.wrong(place, problem, "add it to instances")
        chosen = self._indices(texts[0], self.counts[name], place)
        levels = self._levels(self.device[name], texts[1], place)
        size = len(chosen)
        for _, indices in levels:
            size *= len(indices)
        self.ports += size
        if self.ports > MOST_PORTS:
            remedy = f"name at most {MOST_PORTS} in all edges"
            raise self.source.wrong(place, "means too many components", remedy)
        inner = [
            ".".join(f"{part}[{k}]" for (part, _), k in zip(levels, ks, strict=True))
            for ks in product(*(indices for _, indices in levels))
        ]
        return [(name, k, one) for k in chosen for one in inner], "[" not in texts[1]

    def _levels(self, device: str, text: str, place: str) -> list[tuple[str, range]]:
        """The component and its indices, after those of the devices that it is in."""
        levels: list[tuple[str, range]] = []
        inside: str | None = device
        elements = text.removeprefix(f"{device}.").split(".")
        if len(elements) > DEEPEST:
            raise self.source.wrong(place, "found too many dots", f"use at most {DEEPEST - 1}")
        for element in elements:
            part = element.partition("[")[0]
            component = self.components.get(inside or "", {}).get(part)
            if component is None:
                problem = f"there is no component {shown(part)} in {shown(inside)}"
                raise self.source.wrong(place, problem, "add it to the device")
            count = self._count(component, f"component {part}")
            levels.append((part, self._indices(element, count, place)))
            inside = part if component.get("choice") == "device" else None
        return levels

    def _indices(self, text: str, count: int, place: str) -> range:
        """What ``name``, ``name[2]`` or ``name[0:8:2]`` mean."""
        _, bracket, rest = text.partition("[")
        if not bracket:
            return range(count)
        pieces = rest.removesuffix("]").split(":")
        fits = rest.endswith("]") and len(pieces) < 4 and pieces != [""]
        if not fits or not all(p == "" or (p.isdecimal() and len(p) < 11) for p in pieces):
            remedy = "write name, name[i], name[start:stop] or name[start:stop:step]"
            raise self.source.wrong(place, f"found {shown(text)}", remedy)
        start, stop, step = [int(p) if p else None for p in (*pieces, "", "")][:3]
        first = start or 0
        if len(pieces) == 1:
            stop = first + 1
        found = range(first, count if stop is None else stop, 1 if step is None else max(step, 1))
        if not found or found.stop > count or step == 0:
            raise self.source.wrong(place, f"found {shown(text)}", f"use indices 0..{count - 1}")
        return found
