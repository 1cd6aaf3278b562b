"""All mutants, by what they harm."""

from __future__ import annotations

from tests.mutants import (
    of_agents,
    of_compiler,
    of_fabrics,
    of_judges,
    of_plugins,
    of_search,
    of_simulation,
    of_topologies,
)

MUTANTS = (
    *of_simulation.MUTANTS,
    *of_fabrics.MUTANTS,
    *of_judges.MUTANTS,
    *of_search.MUTANTS,
    *of_agents.MUTANTS,
    *of_compiler.MUTANTS,
    *of_topologies.MUTANTS,
    *of_plugins.MUTANTS,
)
