"""How far a headless run has come: a bar on a terminal, a few plain lines in a log."""

from __future__ import annotations

import sys
import time

WIDTH = 30


class Progress:
    """Counts to `total`; writes to `stream` (default: standard error)."""

    def __init__(self, label: str, total: int, stream=None) -> None:
        self.label, self.total = label, total
        self.stream = stream or sys.stderr
        self.live = bool(getattr(self.stream, "isatty", lambda: False)())
        self._written = -1
        self._start = time.perf_counter()

    def show(self, done: int) -> None:
        """Say that `done` of `total` is done: each percent on a terminal, each quarter in a log."""
        share = min(1.0, done / max(1, self.total))
        mark = int(share * (100 if self.live else 4))
        if mark == self._written:
            return
        self._written = mark
        if self.live:
            full = round(share * WIDTH)
            line = f"\r{self.label} [{'#' * full}{'.' * (WIDTH - full)}] {done}/{self.total} frames"
            self.stream.write(line)
        elif mark:
            self.stream.write(f"{self.label}: {done}/{self.total} frames\n")
        self.stream.flush()

    def close(self, word: str = "done") -> None:
        """End the bar's line with `word` and the time taken."""
        seconds = time.perf_counter() - self._start
        lead = "  " if self.live else f"{self.label}: "
        self.stream.write(f"{lead}{word} ({seconds:.1f} s)\n")
        self.stream.flush()
