from typing import Any

MARKS: int

def emit(spec_: Any, edges: Any, seed: int, first: int, x: Any, v: Any, traits: Any, ids: Any) -> None: ...
def move(
    x: Any,
    v: Any,
    traits: Any,
    fate: Any,
    hit: Any,
    touch: Any,
    trail: Any,
    trail_slot: int,
    numbers: Any,
    choices: Any,
    colliders: Any,
    start: Any,
    reach: float,
    marks: Any,
    threads: int,
) -> None: ...
def holes(fate: Any, source: Any, target: Any) -> tuple[int, int]: ...
