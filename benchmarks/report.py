"""The table for a reader and the CSV for a later comparison."""

import csv
import importlib.metadata
import os
import platform
from pathlib import Path

import softkit
from benchmarks import runner
from benchmarks.scene import Outcome, Scene

COLUMNS = ["scene", "contender", "setting", "items", "substeps", "frames", "min_ms", "median_ms", "p95_ms"]
COLUMNS += ["ns_per_item_substep", "ratio", "start_s"]


def cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    out = {"python": platform.python_version()}
    for name in ("numpy", "pymunk", "numba"):
        try:
            out[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            out[name] = ""
    return out


def machine() -> dict[str, str]:
    """Where the numbers come from, for every line of the CSV."""
    info = softkit.build_info()
    own = {"cpu": cpu_model(), "cores": str(os.cpu_count()), "threads": str(info["threads"])}
    own |= {"system": f"{platform.system()} {platform.machine()}", "softkit": info["version"]}
    return own | {"compiler": info["compiler"], "vector": info["vector"]} | versions()


def row(scene: Scene, outcome: Outcome, baseline: Outcome | None) -> dict:
    contender, middle = outcome.contender, runner.median(outcome)
    steps = contender.items * contender.substeps
    return {
        "scene": scene.name,
        "contender": contender.name,
        "setting": contender.setting,
        "items": contender.items,
        "substeps": contender.substeps,
        "frames": len(runner.frames(outcome)),
        "min_ms": runner.frames(outcome)[0] * 1e3,
        "median_ms": middle * 1e3,
        "p95_ms": runner.p95(outcome) * 1e3,
        "ns_per_item_substep": middle * 1e9 / steps if steps else "",
        "ratio": runner.ratio(outcome, baseline) if baseline else "",
        "start_s": outcome.start_seconds,
        **outcome.quality,
    }


def rows(scene: Scene, outcomes: list[Outcome]) -> list[dict]:
    baseline = next((o for o in outcomes if o.contender.name == scene.baseline), None)
    return [row(scene, outcome, baseline) for outcome in outcomes]


def _cell(value) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 0.1 else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)


def table(scene: Scene, lines: list[dict]) -> str:
    """Columns that say something, aligned; text to the left, numbers to the right."""
    heads = {"contender": "", "min_ms": "min ms", "median_ms": "median ms", "p95_ms": "p95 ms"}
    heads |= {"ns_per_item_substep": f"ns/{scene.item}/substep"}
    heads |= {key: key for line in lines for key in line if key not in COLUMNS}
    heads |= {"ratio": "ratio", "start_s": "start s", "setting": "setting"}
    keys = [key for key in heads if any(line.get(key, "") != "" for line in lines)]
    cells = [[heads[key] for key in keys]] + [[_cell(line.get(key, "")) for key in keys] for line in lines]
    widths = [max(len(cell) for cell in column) for column in zip(*cells)]
    left = ("contender", "setting")
    text = [
        "  ".join(c.ljust(w) if k in left else c.rjust(w) for k, c, w in zip(keys, line, widths)).rstrip()
        for line in cells
    ]
    return "\n".join([f"{scene.name}: {scene.title}", *("  " + line for line in text)])


def write_csv(path: str, lines: list[dict]) -> None:
    extra = sorted({key for line in lines for key in line} - set(COLUMNS))
    facts = machine()
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *extra, *facts], restval="", lineterminator="\n")
        writer.writeheader()
        for line in lines:
            rounded = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()}
            writer.writerow({**rounded, **facts})
