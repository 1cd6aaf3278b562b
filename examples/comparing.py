"""Policies side by side, and a page to look at.

Covers:

- `compare`: every policy in the same realisations, spread over processes,
- means with 95 % intervals, and paired differences from one policy,
- saving the comparison, and the HTML report of it.

Worker processes import this file again, which is why everything that runs stands in `main`.
"""

from __future__ import annotations

from thzsync import compare
from thzsync.report import open_results, write_report

POLICIES = ("all-wired", "all-wireless", "fixed-ratio")


def main() -> None:
    """Compare three policies on the smallest preset and write `compared/report.html`."""
    compared = compare("tiny", POLICIES, seeds=2, iterations=2, workers=2)
    for row in compared.rows(against="all-wired"):
        time_ms, half_ms = row["completion_ms"], row["ci95_completion_ms"]
        change_ms, doubt_ms = row["diff_completion_ms"], row["ci95_diff_completion_ms"]
        print(
            f"{row['policy']}: {time_ms:.1f} ± {half_ms:.1f} ms, "
            f"{change_ms:+.1f} ± {doubt_ms:.1f} ms beside all-wired"
        )
    print(f"wrote {write_report(open_results(compared.save('compared')))}")


if __name__ == "__main__":
    main()
