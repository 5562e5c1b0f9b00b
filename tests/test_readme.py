"""The README's first screen: two command lines, and an example that runs exactly as written."""

import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import softkit

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_SCREEN = "\n".join(TEXT.splitlines()[:40])


def blocks(language, text=TEXT):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)


def test_first_screen_has_two_commands():
    """Each makes the environment, installs, then plays or tests; the first screen has no other command."""
    lines = [line for block in blocks("sh", FIRST_SCREEN) for line in block.splitlines()]
    assert len(lines) == 2
    for line, extra, module in zip(lines, (".", ".[test]"), ("games", "pytest")):
        make, install, go = (shlex.split(part) for part in line.split(" && "))
        assert make == ["python3", "-m", "venv", ".venv"]
        assert install == [".venv/bin/python", "-m", "pip", "install", "-e", extra]
        assert go == [".venv/bin/python", "-m", module]
    assert re.findall(r"^```(\w*)", FIRST_SCREEN, flags=re.M)[0] == "sh"


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", TEXT))))
def test_linked_files_exist(target):
    path = ROOT / target
    assert path.is_file()
    if path.suffix == ".png":
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_table_names_what_exists():
    """Each name in the first column is softkit's, and each `python -m` is a package of this repository."""
    names = re.findall(r"^\| (`.*?`) \|", TEXT, flags=re.M)
    spans = [
        span for cell in names for span in re.findall(r"`(.*?)`", cell) if not span.startswith("SOFTKIT_")
    ]
    assert len(spans) > 5
    importlib.import_module("softkit.render")
    for span in spans:
        if span.startswith("python -m "):
            assert (ROOT / span.split()[2] / "__main__.py").is_file()
            continue
        thing = softkit
        for part in span.split("."):
            thing = getattr(thing, part)


def test_example_runs(tmp_path):
    """A screen of frames until the window is closed; ends by itself, says nothing on stderr."""
    (example,) = blocks("python", FIRST_SCREEN)
    assert len([line for line in example.splitlines() if line.strip()]) == 15
    # The player closes the window after 40 frames.
    closing = """
import pygame
flip, left = pygame.display.flip, [40]
def counted():
    flip()
    left[0] -= 1
    if left[0] == 0:
        pygame.event.post(pygame.Event(pygame.QUIT))
pygame.display.flip = counted
"""
    script = tmp_path / "example.py"
    script.write_text(example)
    code = f"{closing}import runpy\nspace = runpy.run_path({str(script)!r})\nprint(space['world'].time)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout.split()[-1]) > 0.1
