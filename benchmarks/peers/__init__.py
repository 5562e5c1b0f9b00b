"""What a game would use instead, one peer a file, written as its own community writes it, and made fast.

Rope peers share one shape: `Ropes(layout)` with `frame()` and `positions()` -> (ropes, segments + 1, 2).
"""
