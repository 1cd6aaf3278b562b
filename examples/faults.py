"""What breaks, and what that costs.

Covers:

- a dead transceiver, a jammed subband and a dead fibre, each for a while,
- the same realisation without them: same seed, same channel, same stragglers,
- chunks that changed fabric because of a fault,
- the audit, which re-checks that nothing was sent where nothing could be.
"""

from __future__ import annotations

from thzsync import Run, audit, simulate
from thzsync.scenario import FibreDegraded, SubbandJammed, TransceiverDown
from thzsync.scenario.files import build_scenario

FAULTS = (
    TransceiverDown(kind="transceiver-down", rack=1, start_s=0.005, end_s=0.030),
    SubbandJammed(kind="subband-jammed", subband=0, start_s=0.010, end_s=0.020),
    FibreDegraded(kind="fibre", rack=4, rate_share=0.0, start_s=0.0, end_s=0.025),
)
# Chunks that THz cannot send for 2 ms take the fibre; the default is more patient.
HEALTHY = build_scenario({"preset": "tiny", "thz": {"fallback_timeout_s": "2 ms"}}, "faults.py")
# Built anew rather than copied, so that racks and subbands are checked against the floor.
BROKEN = build_scenario({**HEALTHY.model_dump(), "faults": FAULTS}, "faults.py")


def describe(name: str, run: Run) -> None:
    """What a run took, and what was moved."""
    to_fibre, to_thz = (
        run.iterations[column].sum() for column in ("fallback_chunks", "rerouted_chunks")
    )
    print(f"{name}: {run.summary['completion_ms']:.2f} ms per iteration")
    print(f"  {to_fibre} chunks fell back to fibre, {to_thz} were moved to THz")


def main() -> None:
    """Run both, and audit the one with faults."""
    describe("healthy", simulate(HEALTHY, policy="fixed-ratio", iterations=2))
    broken = simulate(BROKEN, policy="fixed-ratio", iterations=2)
    describe("broken", broken)
    verdict = audit(broken)
    print(f"{verdict.facts} facts checked, {len(verdict.violations)} violated")


if __name__ == "__main__":
    main()
