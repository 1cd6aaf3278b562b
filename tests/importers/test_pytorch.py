"""From a real PyTorch job on two local processes to a report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from thzsync.cli import main

SCRIPT = Path(__file__).parents[2] / "examples" / "traces" / "profile_ddp.py"
PARAMETERS = 256 * 512 + 512 + 512 * 256 + 256


def test_a_ddp_job_is_profiled_imported_simulated_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch.distributed", reason="PyTorch is not installed")
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], check=True, timeout=120)
    profiles = [str(path) for path in sorted(tmp_path.glob("profile*.json"))]
    trace, record = str(tmp_path / "job.trace"), str(tmp_path / "record")
    assert main(["trace", "import", *profiles, "--out", trace, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["ranks"], document["racks"]) == ("kineto", 2, 2)
    # Replayed, both ranks start at once; recorded, one waited for the other, however long.
    assert 0 < document["replayed_s"] < 1.05 * document["recorded_s"]

    assert main(["trace", "show", trace, "--json"]) == 0
    kinds = json.loads(capsys.readouterr().out)["kinds"]
    assert kinds["allreduce"]["payload_bytes"] == 3 * 4 * PARAMETERS  # three steps of floats

    run = ["run", "tiny", "--trace", trace, "--policy", "fixed-ratio", "--iterations", "2"]
    assert main([*run, "--out", record]) == 0
    assert main(["audit", record]) == 0
    assert main(["report", record]) == 0
    assert (tmp_path / "record" / "report.html").stat().st_size > 10_000
