"""python -m benchmarks: scenes and peers side by side, a table for each scene, CSV on request."""

import argparse
import dataclasses
import sys
from fnmatch import fnmatch

from benchmarks import report, runner, scenes


def arguments(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--scene", nargs="+", default=["*"], help="names or patterns, such as rope-* (default: all)"
    )
    parser.add_argument("--peers", nargs="+", default=["*"], help="contenders to keep, names or patterns")
    parser.add_argument("--csv", metavar="FILE", help="write every line with the machine's facts")
    parser.add_argument("--quick", action="store_true", help="few frames: does it run, not how fast")
    parser.add_argument("--list", action="store_true", help="name the scenes and contenders, run nothing")
    return parser.parse_args(argv)


def chosen(options):
    """The scenes asked for, each with the contenders asked for."""
    out = []
    for scene in scenes.load():
        if any(fnmatch(scene.name, pattern) for pattern in options.scene):
            kept = [c for c in scene.contenders if any(fnmatch(c.name, p) for p in options.peers)]
            out += [dataclasses.replace(scene, contenders=kept)] if kept else []
    return out


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def main(argv=None):
    options = arguments(argv)
    picked = chosen(options)
    if not picked:
        print("no scene or contender of that name; --list names them", file=sys.stderr)
        return 2
    if options.list:
        for scene in picked:
            print(f"{scene.name}: {scene.title}\n  " + ", ".join(c.name for c in scene.contenders))
        return 0
    facts = report.machine()
    print(", ".join(f"{key} {value}" for key, value in facts.items() if value), end="\n\n")
    lines = []
    for scene in picked:
        outcomes = runner.measure(scene, runner.QUICK if options.quick else runner.Plan(), progress)
        progress("")
        block = report.rows(scene, outcomes)
        print(report.table(scene, block))
        for sentence in scene.conclude({o.contender.name: o for o in outcomes}):
            print(f"  {sentence}")
        print(flush=True)
        lines += block
    if options.csv:
        report.write_csv(options.csv, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
