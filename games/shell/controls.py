"""Keyboard, mouse and gamepad as one small state that a game reads once a frame.

    x, y          -1..1     arrows or WASD, left stick, d-pad (y points down the screen)
    action        held      Space, pad A
    alt           held      Shift or E, pad B or X
    pointer       pixels    the mouse, or the right stick of a pad
    pointer_held  bool      left mouse button, pad shoulder or trigger

`pressed` and `released` hold the names of what changed in this frame. `by_pointer` says whether the mouse
was the last device touched, so that a game can aim at the mouse or help a player who has none.
"""

from __future__ import annotations

import pygame

from games.shell.pads import PadState

KEYS_X = {pygame.K_LEFT: -1, pygame.K_a: -1, pygame.K_RIGHT: 1, pygame.K_d: 1}
KEYS_Y = {pygame.K_UP: -1, pygame.K_w: -1, pygame.K_DOWN: 1, pygame.K_s: 1}
KEYS = {pygame.K_SPACE: "action", pygame.K_LSHIFT: "alt", pygame.K_RSHIFT: "alt", pygame.K_e: "alt"}
STICK_SPEED = 900  # pixels a second that the right stick moves the pointer


class Controls:
    """The input of one frame. The shell feeds events; a demonstration calls `script` instead."""

    def __init__(self, size=(1280, 720)) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        """Let go of everything."""
        self.x = self.y = 0.0
        self.held: set[str] = set()
        self.pressed: set[str] = set()
        self.released: set[str] = set()
        self.pointer = (self.size[0] / 2, self.size[1] / 2)
        self.pointer_before = self.pointer
        self.by_pointer = False
        self._keys: set[int] = set()
        self._down: set[str] = set()
        self._tapped: set[str] = set()
        self._pad = PadState()
        self._next_pointer = self.pointer
        self._script: tuple | None = None

    @property
    def action(self) -> bool:
        return "action" in self.held

    @property
    def alt(self) -> bool:
        return "alt" in self.held

    @property
    def pointer_held(self) -> bool:
        return "pointer" in self.held

    def feed(self, event) -> None:
        """Take one pygame event of the keyboard or the mouse."""
        kind = event.type
        if kind == pygame.KEYDOWN:
            self._keys.add(event.key)
            if event.key in KEYS:
                self._tapped.add(KEYS[event.key])
        elif kind == pygame.KEYUP:
            self._keys.discard(event.key)
        elif kind == pygame.MOUSEMOTION:
            self._next_pointer, self.by_pointer = event.pos, True
        elif kind == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._next_pointer, self.by_pointer = event.pos, True
            self._down.add("pointer")
            self._tapped.add("pointer")
        elif kind == pygame.MOUSEBUTTONUP and event.button == 1:
            self._next_pointer = event.pos
            self._down.discard("pointer")
        elif kind == pygame.WINDOWFOCUSLOST:
            self._keys.clear()
            self._down.clear()

    def feed_pad(self, state: PadState) -> None:
        """Take the gamepads' state for the coming frame."""
        self._pad = state

    def script(self, *, x: float = 0.0, y: float = 0.0, hold=(), pointer=None) -> None:
        """Set the coming frame's input by hand: `hold` names any of action, alt, pointer."""
        self._script = (float(x), float(y), set(hold), pointer)

    def advance(self, dt: float) -> None:
        """Turn what was fed since the last frame into this frame's state and edges."""
        before = self.held
        self.pointer_before = self.pointer
        if self._script is not None:
            self.x, self.y, self.held, pointer = self._script
            self._script = None
            if pointer is not None:
                self._next_pointer, self.by_pointer = pointer, True
        else:
            self._read_devices(dt)
        self.pointer = (float(self._next_pointer[0]), float(self._next_pointer[1]))
        self.pressed = self.held - before
        self.released = before - self.held
        self._tapped.clear()

    def _read_devices(self, dt: float) -> None:
        """Sum keys, pads and mouse into the axes and the set of held names."""
        pad = self._pad
        x = pad.x + sum(KEYS_X.get(k, 0) for k in self._keys)
        y = pad.y + sum(KEYS_Y.get(k, 0) for k in self._keys)
        self.x, self.y = max(-1.0, min(1.0, x)), max(-1.0, min(1.0, y))
        # A tap that began and ended between two frames still counts for one.
        self.held = {KEYS[k] for k in self._keys if k in KEYS} | self._down | self._tapped | pad.held
        if pad.look_x or pad.look_y:
            px, py = self._next_pointer
            self._next_pointer = (
                min(max(px + pad.look_x * STICK_SPEED * dt, 0), self.size[0]),
                min(max(py + pad.look_y * STICK_SPEED * dt, 0), self.size[1]),
            )
            self.by_pointer = True
        elif self.x or self.y or "action" in self.held:
            self.by_pointer = False
