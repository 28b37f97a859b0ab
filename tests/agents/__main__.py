"""Real agents behind the gateway: ``python3 tests/agents [AGENT ...]``.

Each agent is installed into a folder of its own (``--folder``, else ``.agents``) and
asks a provider that plays a script, directly and behind the gateway. Directly the
provider is clean, behind the gateway it leaks. Both times the agent has to do the same:
the same calls in the same order, the same files, as many requests give or take one, the
same words printed, no id twice, and no leak in a request or in a stored session. A
clean provider behind the gateway is handed on document for document. A session that was
begun without the gateway goes on behind it, and then without it. ``--write`` writes the
table of the page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from compared import Done, changes, crossings, differences, refusals, repairs
from damages import DAMAGES, LOSES_ANSWER, damaged
from environment import ROOT, ensure
from programs import (
    MODEL,
    PROGRAMS,
    environment,
    executable,
    install,
    node,
    version,
)
from provider import TURN, Provider, Run
from scenarios import SCENARIOS, Scenario

TYPESCRIPT = ROOT / "clients/typescript"
GATEWAY = ROOT / "clients/gateway"
PAGE = GATEWAY / "DETAILS.md"
_TABLE = re.compile(r"(<!-- agents: begin -->)\n.*?(<!-- agents: end -->)", re.DOTALL)
_SECONDS = 180
_AT_ONCE = 2


class Trial:
    def __init__(self, folder: Path, provider: Provider, sidecar: Path) -> None:
        self.folder, self.provider, self.sidecar = folder, provider, sidecar

    def run(
        self,
        agent: str,
        name: str,
        *,
        is_behind_gateway: bool,
        leaks: bool,
        repairs: bool = False,
    ) -> Done:
        """All turns of a scenario. ``repairs``: the stored session, before the last."""
        done = self._run(agent, name, is_behind_gateway, leaks, repairs)
        assert done is not None
        return done

    def resumed(
        self, agent: str, damage: str, *, is_behind_gateway: bool
    ) -> Done | None:
        """A session that is damaged and repaired before the last turn. ``damage``: a
        name of `DAMAGES`, or "". None if it changes nothing in the agent's sessions."""
        return self._run(agent, "damaged", is_behind_gateway, False, True, damage)

    def _run(
        self,
        agent: str,
        name: str,
        is_behind_gateway: bool,
        leaks: bool,
        repairs: bool,
        damage: str = "",
    ) -> Done | None:
        scenario = SCENARIOS[name]
        way = "gateway" if is_behind_gateway else "direct"
        tag = f"{agent}-{name}-{way}-{'leaks' if leaks else 'clean'}"
        tag += "-repaired" if repairs else ""
        tag += f"-{damage.replace(' ', '-')}" if damage else ""
        run = self._played(tag, Run(scenario, leaks, PROGRAMS[agent].has_tools))
        workplace = self._workplace(agent, tag, scenario)
        start = workplace.behind(tag) if is_behind_gateway else workplace.start
        return self._turns(
            workplace,
            [(run, start)] * len(scenario.turns),
            repairs=repairs,
            damage=damage,
        )

    def crossing(self, agent: str, name: str) -> Done:
        """Every second turn behind the gateway, where the provider leaks."""
        scenario = SCENARIOS[name]
        tag = f"{agent}-{name}-crossing"
        direct = self._played(tag, Run(scenario, False, PROGRAMS[agent].has_tools))
        behind = self._played(f"{tag}-behind", replace(direct, leaks=True, asked=[]))
        workplace = self._workplace(agent, tag, scenario)
        ways = (direct, workplace.start), (behind, workplace.behind(f"{tag}-behind"))
        done = self._turns(workplace, [*islice(cycle(ways), len(scenario.turns))])
        assert done is not None
        return done

    def _played(self, tag: str, run: Run) -> Run:
        self.provider.runs[tag] = run
        return run

    def _workplace(self, agent: str, tag: str, scenario: Scenario) -> Workplace:
        """An empty home folder, whose user asks the provider at the path ``tag``."""
        place = self.folder / "runs" / tag
        shutil.rmtree(place, ignore_errors=True)
        for each in ("home", "work"):
            (place / each).mkdir(parents=True)
        base = self.provider.base(tag)
        variables = environment(self.folder, agent, place / "home", base)
        # opencode's damages are those of a store that has asked Anthropic's API
        if scenario.seals or (scenario.is_damaged and agent == "opencode"):
            variables |= PROGRAMS[agent].binding or {}
            variables["ANTHROPIC_BASE_URL"] = base
        return Workplace(self, agent, place, variables, scenario)

    def _turns(
        self,
        workplace: Workplace,
        ways: list[tuple[Run, list[str]]],
        *,
        repairs: bool = False,
        damage: str = "",
    ) -> Done | None:
        """``ways``: for each turn, the run that is asked, and how the agent starts.
        None if the ``damage`` changes nothing in the agent's sessions."""
        codes, outputs, errors, asked = [], [], [], []
        program, scenario = PROGRAMS[workplace.agent], workplace.scenario
        for turn, (run, start) in enumerate(ways):
            if turn == len(ways) - 1:
                agent, variables = workplace.agent, workplace.variables
                if damage and not self._damaged(agent, variables, damage):
                    return None
                if repairs:
                    outputs.append(self._repaired(agent, variables))
            earlier = len(run.asked)
            words = [
                *(program.again if turn else program.arguments),
                f"Go on. {TURN.format(turn)}",
            ]
            code, output, error = _started(
                [*start, *words],
                workplace.place / "work",
                workplace.variables,
                run if scenario.aborts else None,
            )
            codes.append(code)
            outputs.append(output)
            errors.append(error)
            asked.append(run.asked[earlier:])
        printed, complaints = "\n".join(outputs), "\n".join(errors)
        (workplace.place / "output").write_text(printed, encoding="utf-8")
        (workplace.place / "errors").write_text(complaints, encoding="utf-8")
        files = {
            each.name: each.read_text(encoding="utf-8")
            for each in sorted((workplace.place / "work").glob("*.txt"))
        }
        return Done(codes, files, printed, complaints, run, asked, workplace.place)

    def _damaged(self, agent: str, variables: dict[str, str], name: str) -> bool:
        """Damages the sessions of the agent; whether they are other ones then."""
        stored = PROGRAMS[agent].stored
        command = [self.sidecar, "repair", "--list", stored, "--output-format", "json"]
        listed = subprocess.run(
            [*map(str, command)], env=variables, capture_output=True, check=True
        ).stdout
        paths = map(Path, json.loads(listed)["agents"][0]["files"])
        are_changed = [damaged(path, name) for path in paths]
        return any(are_changed)

    def _repaired(self, agent: str, variables: dict[str, str]) -> str:
        """What the command says. It fails where bound texts are left as they were."""
        command = [str(self.sidecar), "repair", PROGRAMS[agent].stored, "--write"]
        return subprocess.run(
            command, env=variables, capture_output=True, text=True, check=False
        ).stdout


@dataclass(frozen=True)
class Workplace:
    """Where an agent works: its folders and variables, and how it starts."""

    trial: Trial
    agent: str
    place: Path
    variables: dict[str, str]
    scenario: Scenario

    @property
    def start(self) -> list[str]:
        return [str(executable(self.trial.folder, self.agent))]

    def behind(self, tag: str) -> list[str]:
        """The start behind a gateway, whose provider has the path ``tag``."""
        gateway = (
            node(self.trial.folder),
            GATEWAY / "dist/bin.js",
            *("run", "--upstream", self.trial.provider.base(tag)),
            *("--claims", "promote", "--model", MODEL),
            *("--record", self.place / "record", "--sidecar", self.trial.sidecar, "--"),
        )
        return [*map(str, gateway), *self.start]


def _started(
    command: list[str], work: Path, variables: dict[str, str], stalls: Run | None
) -> tuple[int, str, str]:
    """Exit code and what it printed. ``stalls``: it is interrupted in mid-answer."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as output,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
    ):
        child = subprocess.Popen(
            command,
            cwd=work,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        if stalls and stalls.stalls.wait(_SECONDS):
            os.killpg(child.pid, signal.SIGINT)
        try:
            code = child.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            code = 124
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        output.seek(0)
        errors.seek(0)
        return code, output.read(), errors.read()


@dataclass(frozen=True)
class Result:
    """What was found of an agent, by scenario, and the verdict."""

    agent: str
    version: str
    wire: str
    found: dict[str, list[str]]
    verdicts: dict[str, str]

    def row(self, names: list[str]) -> str:
        verdicts = (self.verdicts.get(name, "") for name in names)
        return _cells(
            f"{PROGRAMS[self.agent].title} {self.version}", self.wire, *verdicts
        )


def _result(trial: Trial, names: list[str], agent: str) -> Result:
    found: dict[str, list[str]] = {}
    verdicts, wire = {}, ""
    for name in names:
        scenario = SCENARIOS[name]
        program = PROGRAMS[agent]
        if scenario.needs_tools and not program.has_tools:
            continue
        if scenario.seals and program.binding is None:
            continue
        run = partial(trial.run, agent, name)
        if scenario.is_damaged:
            if program.stored:
                found[name], verdicts[name] = _resumed(trial, agent)
            continue
        if scenario.crosses:
            direct = run(is_behind_gateway=False, leaks=False)
            found[name] = [*crossings(scenario, direct, trial.crossing(agent, name))]
            wire = direct.wire or wire
            continue
        if scenario.is_stored:
            leaking = run(is_behind_gateway=False, leaks=True)
            repaired = run(is_behind_gateway=False, leaks=True, repairs=True)
            found[name] = [*repairs(scenario, leaking, repaired)]
        else:
            direct = run(is_behind_gateway=False, leaks=False)
            leaking = run(is_behind_gateway=True, leaks=True)
            found[name] = [*differences(scenario, direct, leaking)]
            if not scenario.aborts:
                clean = run(is_behind_gateway=True, leaks=False)
                found[name] += [*differences(scenario, direct, clean), *changes(clean)]
            wire = direct.wire or wire
        verdicts[name] = "**differs**" if found[name] else "same"
    return Result(agent, version(trial.folder, agent), wire, found, verdicts)


def _resumed(trial: Trial, agent: str) -> tuple[list[str], str]:
    """What a provider refuses of sessions that were damaged and repaired, and how many
    of them it takes."""
    fault = PROGRAMS[agent].own_fault
    found: dict[str, list[str]] = {}
    for damage in ("", *DAMAGES):
        for is_behind_gateway in (False, True) if fault else (False,):
            done = trial.resumed(agent, damage, is_behind_gateway=is_behind_gateway)
            if done is None:
                continue
            refused = {*refusals(done, has_answer=damage not in LOSES_ANSWER)}
            if not is_behind_gateway:
                refused -= fault
            found.setdefault(damage or "nothing", []).extend(sorted(refused))
    texts = [f"{damage}: {text}" for damage, each in found.items() for text in each]
    taken = sum(not each for each in found.values())
    return texts, f"{taken} of {len(found)}"


def _table_and_differences(
    results: Iterable[Result], names: list[str]
) -> Iterator[str]:
    """The table, and below it what differs."""
    titles = [SCENARIOS[name].title for name in names]
    yield _cells("agent", "asks", *titles)
    yield _cells(*["---"] * (len(titles) + 2))
    details = []
    for each in results:
        yield each.row(names)
        details += [
            f"{each.agent} {name}: {text}"[:600]
            for name, found in each.found.items()
            for text in found
        ]
    yield from details


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("agents", nargs="*", metavar="AGENT", help=", ".join(PROGRAMS))
    words.add_argument("--folder", type=Path, default=ROOT / ".agents")
    words.add_argument("--scenario", action="append", choices=[*SCENARIOS])
    words.add_argument(
        "--write", action="store_true", help="the table of the page, too"
    )
    given = words.parse_args()
    agents, names = given.agents or [*PROGRAMS], given.scenario or [*SCENARIOS]
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = given.folder.resolve()
    install(folder, agents)
    for package in (TYPESCRIPT, GATEWAY):
        if not (package / "node_modules").exists():
            subprocess.run(["npm", "ci", "--silent"], cwd=package, check=True)
        subprocess.run(["npm", "run", "--silent", "build"], cwd=package, check=True)
    trial = Trial(folder, Provider(), ensure().parent / "stream-sidecar")
    with ThreadPoolExecutor(_AT_ONCE) as workers:
        results = workers.map(partial(_result, trial, names), agents)
        lines = []
        for line in _table_and_differences(results, names):
            print(line, flush=True)
            lines.append(line)
    table = [line for line in lines if line.startswith("| ")]
    if given.write:
        page = _TABLE.sub(
            lambda marks: "\n".join((marks[1], *table, marks[2])),
            PAGE.read_text(encoding="utf-8"),
        )
        PAGE.write_text(page, encoding="utf-8")
    return len(lines) > len(table)


if __name__ == "__main__":
    sys.exit(main())
