"""Real agents behind the gateway: ``python3 tests/agents [AGENT ...]``.

Each agent is installed into a folder of its own (``--folder``, else ``.agents``) and
asks a provider that plays a script, directly and behind the gateway. Directly the
provider is clean, behind the gateway it leaks. Both times the agent has to do the same:
the same calls in the same order, the same files, as many requests give or take one, no
id twice, and no leak in a request. A clean provider behind the gateway is handed on
document for document.
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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from environment import ROOT, ensure
from programs import PROGRAMS, environment, executable, install, node, version
from provider import TURN, Provider, Run
from scenarios import LEAKS, SCENARIOS, Scenario

TYPESCRIPT = ROOT / "clients/typescript"
_SECONDS = 180
_MODEL = "test-model"


@dataclass(frozen=True)
class Done:
    """What came of a run."""

    codes: list[int]
    files: dict[str, str]
    output: str
    run: Run
    record: Path | None

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(each.name, each.arguments) for each in self._history()]

    def _history(self) -> list[Any]:
        wire, body = self.run.asked[-1]
        return wire.calls(body)

    def twice(self) -> list[str]:
        ids = [each.id for each in self._history() if each.id]
        return sorted({each for each in ids if ids.count(each) > 1})

    def leaks(self) -> list[str]:
        told = [json.dumps(wire.history(body)) for wire, body in self.run.asked]
        return [leak for leak in LEAKS if any(leak in each for each in told)]


class Trial:
    def __init__(self, folder: Path, provider: Provider, sidecar: Path) -> None:
        self.folder, self.provider, self.sidecar = folder, provider, sidecar

    def run(self, agent: str, name: str, *, behind: bool, leaks: bool) -> Done:
        """All turns of a scenario."""
        scenario = SCENARIOS[name]
        way = "gateway" if behind else "direct"
        tag = f"{agent}-{name}-{way}-{'leaks' if leaks else 'clean'}"
        run = self.provider.runs[tag] = Run(scenario, leaks, PROGRAMS[agent].has_tools)
        place = self.folder / "runs" / tag
        shutil.rmtree(place, ignore_errors=True)
        home, work, wiring, record = (
            place / each for each in ("home", "work", "wiring", "record")
        )
        for each in (home, work, wiring):
            each.mkdir(parents=True)
        variables = environment(self.folder, agent, home)
        start = (
            self._behind(agent, tag, record)
            if behind
            else self._directly(agent, tag, wiring, variables)
        )
        codes, outputs = [], []
        for turn in range(len(scenario.turns)):
            program = PROGRAMS[agent]
            words = [
                *(program.again if turn else program.arguments),
                f"Go on. {TURN.format(turn)}",
            ]
            code, output = _started(
                [*start, *words], work, variables, run if scenario.aborts else None
            )
            codes.append(code)
            outputs.append(output)
        (place / "output").write_text("\n".join(outputs), encoding="utf-8")
        files = {
            each.name: each.read_text(encoding="utf-8")
            for each in sorted(work.glob("*.txt"))
        }
        return Done(codes, files, "\n".join(outputs), run, record if behind else None)

    def _behind(self, agent: str, tag: str, record: Path) -> list[str]:
        program = TYPESCRIPT / "dist/gateway/bin.js"
        options = (
            "--claims",
            "promote",
            "--model",
            _MODEL,
            "--record",
            record,
            "--sidecar",
            self.sidecar,
        )
        gateway = (
            node(self.folder),
            program,
            "run",
            "--upstream",
            self.provider.base(tag),
            *options,
        )
        return [*map(str, gateway), "--", str(executable(self.folder, agent))]

    def _directly(
        self, agent: str, tag: str, folder: Path, variables: dict[str, str]
    ) -> list[str]:
        """As the gateway would start it, but with the provider's address."""
        place = json.dumps(
            {"base": self.provider.base(tag), "model": _MODEL, "folder": str(folder)}
        )
        module = (TYPESCRIPT / "dist/gateway/agents.js").as_uri()
        script = f"""
            const {{ AGENTS }} = await import({json.dumps(module)});
            console.log(JSON.stringify(AGENTS[{json.dumps(agent)}].wiring({place})));
        """
        node_command = [str(node(self.folder)), "--input-type=module", "-e", script]
        told = subprocess.run(
            node_command, check=True, capture_output=True, text=True
        ).stdout
        wiring = json.loads(told)
        variables.update(wiring.get("env", {}))
        if file := wiring.get("file"):
            (folder / file["name"]).write_text(file["text"], encoding="utf-8")
        return [str(executable(self.folder, agent)), *wiring.get("args", ())]


def _started(
    command: list[str], work: Path, variables: dict[str, str], stalls: Run | None
) -> tuple[int, str]:
    """Exit code and output. With ``stalls`` it is interrupted in mid-answer."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        child = subprocess.Popen(
            command,
            cwd=work,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
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
        return code, output.read()


def _differences(scenario: Scenario, direct: Done, cleaned: Done) -> Iterator[str]:
    """Between an agent with a clean provider and one behind the gateway."""
    if not direct.run.asked or not cleaned.run.asked:
        yield f"it asked {len(direct.run.asked)} and {len(cleaned.run.asked)} times"
        return
    if scenario.aborts:
        for done in (direct, cleaned):
            if not done.run.left.wait(10):
                yield "the provider was not told that the agent had gone"
        return
    if direct.codes != cleaned.codes:
        yield f"exit codes {direct.codes} and {cleaned.codes}"
    if direct.calls != cleaned.calls:
        yield f"calls {direct.calls} and {cleaned.calls}"
    for done in (direct, cleaned):
        if done.files != scenario.files:
            yield f"files {done.files}"
    if abs(len(direct.run.asked) - len(cleaned.run.asked)) > 1:
        yield f"{len(direct.run.asked)} and {len(cleaned.run.asked)} requests"
    yield from (f"id {each} twice" for each in cleaned.twice())
    yield from (f"a request with {each}" for each in cleaned.leaks())


def _changes(clean: Done) -> Iterator[str]:
    """Documents of a clean provider that the gateway did not hand on as they came."""
    came = sorted(clean.record.glob("*.came")) if clean.record else []
    if not came:
        yield "nothing was recorded"
    for each in came:
        one, other = (_documents(each.with_suffix(end)) for end in (".came", ".went"))
        if one != other:
            yield f"{each}: {len(one)} documents became {len(other)}"


def _documents(record: Path) -> list[Any]:
    lines = re.findall(
        r"^data: (\{.*)$", record.read_text(encoding="utf-8"), re.MULTILINE
    )
    return [json.loads(each) for each in lines]


def _results(
    trial: Trial, agent: str, names: list[str]
) -> Iterator[tuple[str, list[str]]]:
    for name in names:
        scenario = SCENARIOS[name]
        if scenario.needs_tools and not PROGRAMS[agent].has_tools:
            continue
        run = partial(trial.run, agent, name)
        direct = run(behind=False, leaks=False)
        found = [*_differences(scenario, direct, run(behind=True, leaks=True))]
        if not scenario.aborts:
            clean = run(behind=True, leaks=False)
            found += [*_differences(scenario, direct, clean), *_changes(clean)]
        yield name, found


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("agents", nargs="*", metavar="AGENT", help=", ".join(PROGRAMS))
    words.add_argument("--folder", type=Path, default=ROOT / ".agents")
    words.add_argument("--scenario", action="append", choices=[*SCENARIOS])
    given = words.parse_args()
    agents = given.agents or [*PROGRAMS]
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = given.folder.resolve()
    install(folder, agents)
    if not (TYPESCRIPT / "node_modules").exists():
        subprocess.run(["npm", "ci", "--silent"], cwd=TYPESCRIPT, check=True)
    subprocess.run(["npm", "run", "--silent", "build"], cwd=TYPESCRIPT, check=True)
    trial = Trial(folder, Provider(), ensure().parent / "stream-sidecar")
    failed = 0
    for agent in agents:
        results = dict(_results(trial, agent, given.scenario or [*SCENARIOS]))
        told = ", ".join(
            f"{name} {'differs' if found else 'ok'}" for name, found in results.items()
        )
        print(f"{agent} {version(folder, agent)}: {told}", flush=True)
        for name, found in results.items():
            failed += len(found)
            for each in found:
                print(f"    {name}: {each}"[:600], flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
