"""Other simulators on our workload: found where they are, missed with a word where they are not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.optical import sixteen_hosts
from benchmarks.peers import htsim, ns3
from benchmarks.peers.command import output_of
from thzsync.errors import ThzSyncError


def script(file: Path, text: str) -> Path:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_htsim_gets_our_flows_and_its_processor_time_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = script(tmp_path / "htsim", f'echo "$@" > {tmp_path}/asked; cp "$2" {tmp_path}/flows')
    monkeypatch.setenv("THZSYNC_HTSIM", str(command))
    _, batch = sixteen_hosts(4096)
    assert htsim.rate(batch, 8192, 4096, tmp_path) > 0
    lines = (tmp_path / "flows").read_text().splitlines()
    assert lines[:2] == ["Nodes 16", "Connections 128"]
    assert lines[2] == "0->8 start 0 size 8192"
    assert len(lines) == 130
    assert "-mtu 4096" in (tmp_path / "asked").read_text()


def test_what_is_not_installed_is_said_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THZSYNC_HTSIM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("THZSYNC_NS3", str(tmp_path))
    _, batch = sixteen_hosts(4096)
    with pytest.raises(ThzSyncError, match="THZSYNC_HTSIM"):
        htsim.rate(batch, 8192, 4096, tmp_path)
    with pytest.raises(ThzSyncError, match="THZSYNC_NS3"):
        ns3.rate(1, tmp_path)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_an_ns3_that_lacks_a_module_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = tmp_path / "include" / "ns3"
    headers.mkdir(parents=True)
    (headers / "core-module.h").touch()
    monkeypatch.setenv("THZSYNC_NS3", str(tmp_path))
    with pytest.raises(ThzSyncError, match="applications"):
        ns3.rate(1, tmp_path)


def test_the_last_line_of_a_failure_is_told(tmp_path: Path) -> None:
    broken = script(tmp_path / "broken", "echo first >&2; echo 'out of luck' >&2; exit 3")
    with pytest.raises(ThzSyncError, match=r"\b3: out of luck"):
        output_of([str(broken)])
    with pytest.raises(ThzSyncError, match="nowhere"):
        output_of([str(tmp_path / "nowhere")])
