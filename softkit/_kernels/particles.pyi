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
def struck(fate: Any, x: Any, hit: Any, out: Any) -> int: ...
def close_gaps(
    fate: Any, x: Any, v: Any, previous: Any, traits: Any, hit: Any, ids: Any, touch: Any, trail: Any
) -> int: ...
