"""`thzsync ask`: does an overlay pay here?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from thzsync.cli import output
from thzsync.cli.meter import watching
from thzsync.display.terminal import TerminalTable
from thzsync.files import dump_json
from thzsync.folders import ANSWER, claim_folder


def ask(
    scenario: output.ScenarioArgument = "paper",
    seeds: Annotated[int, Option(min=1, help="Realisations, seeds 0 to N-1.")] = 5,
    iterations: Annotated[
        int, Option(min=2, help="Iterations per run; only the second half is averaged.")
    ] = 8,
    policy: Annotated[
        str, Option(help="Policy that divides the chunks between fibre and THz.")
    ] = "thz-sync",
    workers: output.WorkersOption = None,
    changes: output.SetOption = None,
    plugin: output.PluginOption = None,
    pipelined: output.PipelinedOption = False,
    overlay: output.OverlayOption = None,
    out: output.OutOption = None,
    force: output.ForceOption = False,
    json: output.JsonOption = False,
) -> None:
    """Answer whether a THz overlay pays for a job: by how much, and under which assumptions.

    SCENARIO may also be a trace file: it then runs on the smallest floor of the preset `paper`
    that it fits on. The candidates are the best fibre-only schedule, THz alone, and both together
    with the scenario's own and with pipelined mechanisms; the verdict is about the last. All meet
    the same channel, background traffic and stragglers.
    """
    from thzsync.answer import Effort
    from thzsync.answer import ask as run_all
    from thzsync.answer.question import scenario_of
    from thzsync.answer.store import save
    from thzsync.answer.text import candidates_table, lines
    from thzsync.experiments.runs import Tally

    overlays, base = output.all_overlays(pipelined, overlay), scenario_of(scenario, plugin or ())
    setting = output.change_scenario(base, changes, scenario, overlays)
    told = [*(["--pipelined"] if pipelined else []), *(f"--overlay {it}" for it in overlay or ())]
    told += [f'--set "{it}"' for it in changes or ()]
    told += [f"--plugin {name}" for name in plugin or ()]
    told += [f"--policy {policy}"] if policy != "thz-sync" else []
    effort = Effort.of(seeds, iterations)
    with claim_folder(out, ANSWER, force), watching("ask") as watch:
        output.prepare_kernels(workers)
        answer = run_all(
            setting,
            effort,
            workers,
            lambda done, total: watch(Tally(done, total)),
            source=" ".join([scenario, *told]),
            policy=policy,
        )
        if out is not None:
            save(answer, Path(out))
    if out is not None:
        output.note(f"answer written to {out}")
    if json:
        typer.echo(dump_json(answer.document() | {"answer": " ".join(lines(answer))}))
        return
    for line in lines(answer):
        output.tell(line)
        typer.echo()
    output.show(TerminalTable(candidates_table(answer)))
