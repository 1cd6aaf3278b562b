"""ns-3: a small program of ours, compiled against the installation that is found."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.peers.command import output_of
from thzsync.errors import ThzSyncError

MODULES: Final = ("applications", "internet", "point-to-point", "network", "core")
PROGRAM: Final = Path(__file__).with_name("ns3.cc")


def rate(packets: int, folder: Path) -> float:
    """Packet-hops per CPU-second when every flow has so many packets."""
    prefix = _prefix()
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise ThzSyncError(f"{prefix} has ns-3, but there is no C++ compiler; install g++")
    program = folder / "sixteen_hosts"
    libraries = [_library(prefix, module) for module in MODULES]
    search = [f"-Wl,-rpath,{place}" for place in sorted({str(file.parent) for file in libraries})]
    headers = ["-I", str(prefix / "include")]
    source = ["-O2", "-std=c++20", str(PROGRAM), "-o", str(program)]
    output_of([compiler, *source, *headers, *map(str, libraries), *search])
    told = output_of([str(program), str(packets)])
    found = re.fullmatch(r"(\d+) ([\d.e+-]+)", told.strip())
    if found is None:
        raise ThzSyncError(f"its program printed {told.strip()[:80]!r}")
    return int(found[1]) / float(found[2])


def _prefix() -> Path:
    for place in _places():
        if (place / "include" / "ns3" / "core-module.h").is_file():
            return place
    raise ThzSyncError("not installed; name its prefix in THZSYNC_NS3")


def _places() -> Iterator[Path]:
    named = os.environ.get("THZSYNC_NS3")
    if named:
        yield Path(named)
        return
    package = find_spec("ns3")
    if package is not None:
        yield from map(Path, package.submodule_search_locations or ())
    yield from (Path("/usr/local"), Path("/usr"))


def _library(prefix: Path, module: str) -> Path:
    """``libns3.44-core.so`` or ``libns3-dev-core-default.so``: as built and installed."""
    kinds = (
        f"lib*/libns3*-{module}.so",
        f"lib*/libns3*-{module}-*.so",
        f"lib*/*/libns3*-{module}*.so",
    )
    for kind in kinds:
        for file in sorted(prefix.glob(kind)):
            return file
    raise ThzSyncError(f"{prefix} has ns-3 without its module {module}")
