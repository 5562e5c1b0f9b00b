"""Gamepads, plugged in at any time, read once a frame as one merged state.

SDL knows the layout of most pads (its controller interface names sticks, triggers and buttons); a pad it
does not know is read as a plain joystick: first stick, hat and the first buttons.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pygame
from pygame._sdl2 import controller as sdl_controller

DEAD_ZONE = 0.2
NAMES = {  # what a button means to games ("pointer" is the mouse button)
    pygame.CONTROLLER_BUTTON_A: "action",
    pygame.CONTROLLER_BUTTON_B: "alt",
    pygame.CONTROLLER_BUTTON_X: "alt",
    pygame.CONTROLLER_BUTTON_LEFTSHOULDER: "pointer",
    pygame.CONTROLLER_BUTTON_RIGHTSHOULDER: "pointer",
    pygame.CONTROLLER_BUTTON_START: "pause",
    pygame.CONTROLLER_BUTTON_Y: "restart",
    pygame.CONTROLLER_BUTTON_BACK: "back",
}
D_PAD = {
    pygame.CONTROLLER_BUTTON_DPAD_LEFT: (-1, 0),
    pygame.CONTROLLER_BUTTON_DPAD_RIGHT: (1, 0),
    pygame.CONTROLLER_BUTTON_DPAD_UP: (0, -1),
    pygame.CONTROLLER_BUTTON_DPAD_DOWN: (0, 1),
}
PLAIN_NAMES = {
    0: "action",
    1: "alt",
    2: "alt",
    3: "restart",
    4: "pointer",
    5: "pointer",
    6: "back",
    7: "pause",
}


@dataclass
class PadState:
    """x, y: left stick or d-pad; look_x, look_y: right stick, all -1..1 with y down; held: button names."""

    x: float = 0.0
    y: float = 0.0
    look_x: float = 0.0
    look_y: float = 0.0
    held: set[str] = field(default_factory=set)


def dead(value: float) -> float:
    """A stick axis (-1..1) without its dead zone, still reaching -1 and 1."""
    size = min(1.0, max(0.0, (abs(value) - DEAD_ZONE) / (1 - DEAD_ZONE)))
    return size if value > 0 else -size


def read_controller(pad) -> PadState:
    """The state of a pad that SDL has a layout for."""
    axis = [pad.get_axis(i) / 32767 for i in range(6)]
    state = PadState(dead(axis[0]), dead(axis[1]), dead(axis[2]), dead(axis[3]))
    state.held = {name for button, name in NAMES.items() if pad.get_button(button)}
    if axis[pygame.CONTROLLER_AXIS_TRIGGERLEFT] > 0.5 or axis[pygame.CONTROLLER_AXIS_TRIGGERRIGHT] > 0.5:
        state.held.add("pointer")
    for button, (x, y) in D_PAD.items():
        if pad.get_button(button):
            state.x, state.y = state.x + x, state.y + y
    return state


def read_joystick(pad) -> PadState:
    """The state of a joystick of unknown layout."""
    axis = [dead(pad.get_axis(i)) for i in range(min(2, pad.get_numaxes()))] + [0.0, 0.0]
    state = PadState(axis[0], axis[1])
    state.held = {name for i, name in PLAIN_NAMES.items() if i < pad.get_numbuttons() and pad.get_button(i)}
    for i in range(pad.get_numhats()):
        x, y = pad.get_hat(i)
        state.x, state.y = state.x + x, state.y - y
    return state


class Pads:
    """All gamepads that are plugged in."""

    def __init__(self) -> None:
        self._open: dict[int, tuple] = {}  # instance id -> (read, device)
        pygame.joystick.init()
        sdl_controller.init()

    def feed(self, event) -> None:
        """Follow pads being plugged in and out."""
        if event.type == pygame.JOYDEVICEADDED:
            pad = pygame.joystick.Joystick(event.device_index)
            known = sdl_controller.is_controller(event.device_index)
            device = (
                (read_controller, sdl_controller.Controller.from_joystick(pad))
                if known
                else (read_joystick, pad)
            )
            self._open[pad.get_instance_id()] = device
        elif event.type == pygame.JOYDEVICEREMOVED:
            self._open.pop(event.instance_id, None)

    def read(self) -> PadState:
        """The sum of all pads now."""
        total = PadState()
        for read, device in self._open.values():
            state = read(device)
            total.held |= state.held
            for name in ("x", "y", "look_x", "look_y"):
                setattr(total, name, max(-1.0, min(1.0, getattr(total, name) + getattr(state, name))))
        return total
