"""Coverage-guided fuzzing of framing, of every wire and of the text engine.

``python3 tests/fuzz/guided.py [--target NAME] [--minutes M] [--seed N]``. Atheris and
its libFuzzer are installed into an environment of their own (``.venv-fuzz``), because
they have wheels for Linux alone; where they cannot be had, the command says so and
exits with 2. The corpus begins with our recordings and spec pages, the dictionary are
the literals of all dialects; ``--corpus`` keeps what was found to go on with. Prints
each kind of find with the smallest input; exits with 1 when there are some.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "support")]
KNOWN = ("pieces", "text", "documents", "bodies")
"""Lanes of ``fuzz.lanes`` that take bytes; ``documents`` has every wire."""


def main(arguments: list[str]) -> int:
    chosen = _parser().parse_args(arguments)
    targets = chosen.target or KNOWN
    seconds = int(chosen.minutes * 60 / len(targets))
    failed = False
    for name in targets:
        with tempfile.TemporaryDirectory() as folder:
            corpus = Path(chosen.corpus or folder) / name
            failed |= fuzz(name, Path(folder), corpus, seconds, chosen.seed)
    return int(failed)


def fuzz(name: str, folder: Path, corpus: Path, seconds: int, seed: int) -> bool:
    """Runs a target for so long and prints; True: it found something."""
    from fuzz.guided_inputs import LONGEST, dictionary, seeds

    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds(name)):
        (corpus / f"seed-{number:04}").write_bytes(data)
    words, finds = folder / "words", folder / "finds"
    words.write_text(dictionary(), encoding="utf-8")
    options = (
        *(f"-max_total_time={seconds}", f"-seed={seed}", f"-dict={words}"),
        *(f"-max_len={LONGEST}", f"-artifact_prefix={folder}/"),
        *("-timeout=60", "-rss_limit_mb=0", "-print_final_stats=1"),
    )
    done = _run([name, str(finds), str(corpus), *options])
    print(f"{name}: {_summary(done.stderr)}", flush=True)
    if done.returncode:  # a crash of the interpreter, or an input without an end
        print(done.stderr[-4000:])
    return _report(name, finds) or bool(done.returncode)


def _run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__).with_name("guided_target.py"))]
    path = os.pathsep.join(map(str, (TESTS, TESTS.parent / "sidecar")))
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [*command, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _summary(output: str) -> str:
    """Libfuzzer's own words on executions and coverage."""
    wanted = ("stat::number_of_executed_units", "stat::average_exec_per_sec")
    stats = [line for line in output.splitlines() if line.startswith(wanted)]
    progress = [line for line in output.splitlines() if " cov: " in line]
    return ", ".join([*(" ".join(line.split()) for line in stats), *progress[-1:]])


def _report(name: str, finds: Path) -> bool:
    """Prints each kind of find once, made small."""
    from fuzz.finds import Find, minimal
    from fuzz.lanes import LANES

    lines = finds.read_text("utf-8").splitlines() if finds.exists() else []
    kinds = {line["kind"]: line for line in map(json.loads, lines)}  # the last is least
    for line in kinds.values():
        find = Find(name, None, **line)
        print(minimal(LANES[name], find).report(), flush=True)
    return bool(kinds)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", action="append", choices=KNOWN)
    parser.add_argument("--minutes", type=float, default=10, help="of all together")
    parser.add_argument("--seed", type=int, default=1, help="libFuzzer's; 0: any")
    parser.add_argument("--corpus", metavar="FOLDER", help="read first, added to")
    return parser


def _start() -> int:
    from environment import ROOT, enter

    os.environ["SIDECAR_VENV"] = str(ROOT / ".venv-fuzz")
    try:
        code = enter(__file__, "test", "fuzz")
    except subprocess.CalledProcessError as error:
        print(f"not run: atheris could not be installed here ({error})")
        return 2
    return main(sys.argv[1:]) if code is None else code


if __name__ == "__main__":
    sys.exit(_start())
