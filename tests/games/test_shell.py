"""The games' shell: command line, catalogue, controls, pads, menu, window loop, progress."""

import io

import pygame
import pytest

from games.shell import catalog, cli, display, headless, overlay, window
from games.shell.controls import Controls
from games.shell.game import LOST, PLAYING, WON, Game
from games.shell.menu import Menu
from games.shell.pads import PadState, dead, read_controller, read_joystick
from games.shell.progress import Progress


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return display.open_headless((1280, 720))


def key(code, down=True):
    return pygame.event.Event(pygame.KEYDOWN if down else pygame.KEYUP, key=code)


class Toy(Game):
    """Win by moving right for ten frames, lose by moving left."""

    title, goal, keys = "Toy", "go right", (("A", "b"),)
    demo_frames = 60

    def setup(self):
        self.x = 0

    def update(self, dt):
        self.x += self.controls.x
        if self.x >= 10:
            self.win("far")
        if self.x <= -10:
            self.lose("back")

    def draw(self, surface):
        surface.fill((10, 20, 30))

    def autoplay(self, frame):
        self.controls.script(x=1)


# Command line ---------------------------------------------------------------------------------


def refused(capsys, *argv):
    with pytest.raises(SystemExit) as stop:
        cli.main(list(argv))
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_wrong_arguments_say_what_is_wrong(capsys):
    assert "no game of that name" in refused(capsys, "chess")
    assert "01_rope_bridge" in refused(capsys, "chess")
    assert "0 is not a count" in refused(capsys, "1", "--frames", "0")
    assert "NAME" in refused(capsys, "--headless", "--shot", "a.png")
    assert ".png" in refused(capsys, "1", "--shot", "a.txt")
    assert ".gif" in refused(capsys, "1", "--record", "a.mp4")


def test_names_numbers_and_parts_find_a_game():
    assert catalog.names()[:2] == ["01_rope_bridge", "02_grapple"]
    for text in ("01_rope_bridge", "1", "01", "rope_bridge", "bridge", "01_rope_bridge.py", " Bridge "):
        assert catalog.find(text) == "01_rope_bridge"
    for text in ("", "99", "ridge bridge"):
        with pytest.raises(ValueError, match="name="):
            catalog.find(text)


def test_a_part_of_two_names_is_refused(monkeypatch):
    monkeypatch.setattr(catalog, "names", lambda: ["01_rope_bridge", "05_rope_swing"])
    with pytest.raises(ValueError, match="more than one"):
        catalog.find("rope")


def test_list(capsys):
    assert cli.main(["--list"]) == 0
    out = capsys.readouterr().out
    assert "01_rope_bridge" in out and "Grapple" in out


@pytest.mark.parametrize(
    "environ, platform, headless_chosen",
    [
        ({}, "linux", True),
        ({"DISPLAY": ":0"}, "linux", False),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", False),
        ({"SDL_VIDEODRIVER": "kmsdrm"}, "linux", False),
        ({"SDL_VIDEODRIVER": "dummy", "DISPLAY": ":0"}, "linux", True),
        ({}, "win32", False),
        ({}, "darwin", False),
    ],
)
def test_a_missing_display_is_noticed(environ, platform, headless_chosen):
    assert bool(display.missing(environ, platform)) is headless_chosen


def test_without_a_display_it_renders_by_itself(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(headless, "SHOTS_DIR", tmp_path)
    monkeypatch.setattr(catalog, "load", lambda name: Toy)
    assert cli.main(["2"]) == 0
    said = capsys.readouterr()
    assert "rendering headless" in said.err
    assert str(tmp_path / "02_grapple.png") in said.out
    assert pygame.image.load(tmp_path / "02_grapple.png").get_size() == (1280, 720)


def test_a_window_that_cannot_open_ends_headless(monkeypatch, capsys, tmp_path):
    def fail(size, caption):
        raise pygame.error("no screen here")

    monkeypatch.setattr(display, "missing", lambda: "")
    monkeypatch.setattr(display, "open_window", fail)
    monkeypatch.setattr(headless, "SHOTS_DIR", tmp_path)
    monkeypatch.setattr(catalog, "load", lambda name: Toy)
    assert cli.main(["1"]) == 0
    assert "no screen here" in capsys.readouterr().err
    assert (tmp_path / "01_rope_bridge.png").is_file()


def test_all_games_without_a_name(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalog, "load", lambda name: Toy)
    assert cli.main(["--headless", "--frames", "3"]) == 0
    files = sorted(p.name for p in (tmp_path / "shots").iterdir())
    assert files == sorted([*(f"{n}.png" for n in catalog.names()), "menu.png"])
    out = capsys.readouterr().out
    assert all(str(tmp_path / "shots" / name) in out for name in files)


def test_a_file_that_cannot_be_written_is_reported(monkeypatch, capsys, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(catalog, "load", lambda name: Toy)
    assert cli.main(["1", "--frames", "1", "--shot", str(tmp_path / "file" / "a.png")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_record_runs_to_the_end_and_lingers(monkeypatch, tmp_path):
    monkeypatch.setattr(catalog, "load", lambda name: Toy)
    game = headless.run("toy", record=tmp_path / "a" / "toy.gif", stream=io.StringIO())
    assert game.state == WON and game.frame == 10
    first = pygame.image.load(str(tmp_path / "a" / "toy.gif"))
    assert first.get_size() == headless.FILM_SIZE


# Progress -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_bar_on_a_terminal_and_a_few_lines_in_a_log():
    bar, log = Terminal(), io.StringIO()
    for stream in (bar, log):
        progress = Progress("toy", 400, stream)
        for i in range(400):
            progress.show(i + 1)
        progress.close()
    assert bar.getvalue().count("\r") >= 100 and "[####" in bar.getvalue()
    assert bar.getvalue().count("\n") == 1
    assert len(log.getvalue().splitlines()) == 5 and "\r" not in log.getvalue()


# Controls and pads ----------------------------------------------------------------------------


def test_keys_make_axes_and_edges():
    pad = Controls()
    pad.feed(key(pygame.K_RIGHT))
    pad.feed(key(pygame.K_SPACE))
    pad.advance(1 / 60)
    assert pad.x == 1 and pad.action and pad.pressed == {"action"}
    pad.advance(1 / 60)
    assert pad.action and not pad.pressed
    pad.feed(key(pygame.K_LEFT))
    pad.feed(key(pygame.K_SPACE, down=False))
    pad.advance(1 / 60)
    assert pad.x == 0 and pad.released == {"action"}


def test_a_tap_within_one_frame_counts_once():
    pad = Controls()
    pad.feed(key(pygame.K_SPACE))
    pad.feed(key(pygame.K_SPACE, down=False))
    pad.advance(1 / 60)
    assert pad.pressed == {"action"}
    pad.advance(1 / 60)
    assert not pad.action and pad.released == {"action"}


def test_mouse_stroke():
    pad = Controls()
    pad.feed(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=(10, 20)))
    pad.advance(1 / 60)
    pad.feed(pygame.event.Event(pygame.MOUSEMOTION, pos=(50, 60), rel=(40, 40), buttons=(1, 0, 0)))
    pad.advance(1 / 60)
    assert pad.pointer_held and pad.by_pointer
    assert pad.pointer_before == (10, 20) and pad.pointer == (50, 60)
    pad.feed(pygame.event.Event(pygame.WINDOWFOCUSLOST))
    pad.advance(1 / 60)
    assert not pad.pointer_held


def test_the_dead_zone_ends_smoothly():
    assert dead(0.19) == 0 and dead(-0.19) == 0
    assert 0 < dead(0.21) < 0.02
    assert dead(1.0) == 1 and dead(-1.0) == -1


class FakePad:
    """A pad with its left stick right, right stick up, right trigger and A down."""

    def get_axis(self, i):
        return (32767, 0, 0, -32767, 0, 32767)[i]

    def get_button(self, i):
        return i == pygame.CONTROLLER_BUTTON_A


class FakeStick:
    def get_axis(self, i):
        return (0.0, 1.0, -1.0)[i]

    def get_numaxes(self):
        return 3

    def get_numbuttons(self):
        return 2

    def get_button(self, i):
        return i == 1

    def get_numhats(self):
        return 1

    def get_hat(self, i):
        return (1, 1)


def test_a_known_pad_and_an_unknown_joystick():
    state = read_controller(FakePad())
    assert (state.x, state.y, state.look_x, state.look_y) == (1, 0, 0, -1)
    assert state.held == {"action", "pointer"}
    state = read_joystick(FakeStick())
    # Hat up is +1 in SDL, up the screen is -1 here.
    assert (state.x, state.y, state.held) == (1, 0, {"alt"})


def test_the_right_stick_moves_the_pointer_on_the_screen():
    pad = Controls()
    pad.feed_pad(PadState(x=0.5, look_x=1.0, held={"pointer"}))
    for _ in range(120):
        pad.advance(1 / 60)
    assert pad.x == 0.5 and pad.pointer_held and pad.by_pointer
    assert pad.pointer == (1280, 360)


# The contract of a game -----------------------------------------------------------------------


def test_a_game_is_won_once_and_restarts():
    game = Toy()
    assert headless.play(game, 30) == 30
    assert game.state == WON and game.message == "far" and game.frame == 10
    game.lose("late")
    assert game.state == WON
    game.restart()
    assert game.state == PLAYING and game.frame == 0 and game.x == 0 and game.restarts == 1
    for _ in range(10):
        game.controls.script(x=-1)
        game.step(1 / 60)
    assert game.state == LOST


def test_cards_change_the_picture(screen):
    game = Toy()
    game.start()

    def shot(paused=False):
        game.draw(screen)
        overlay.draw(screen, game, paused)
        return pygame.image.tobytes(screen, "RGB")

    game.frame = 1000
    plain = shot()
    assert shot(paused=True) != plain
    game.frame = 0
    assert shot() != plain
    game.win("yes")
    won = shot()
    assert won != plain
    game.state = LOST
    assert shot() != won


# Menu and window ------------------------------------------------------------------------------


def test_menu_by_keyboard():
    menu = Menu()
    menu.feed(key(pygame.K_RIGHT))
    menu.feed(key(pygame.K_RIGHT)) if len(menu.names) == 2 else None
    assert menu.index == 1
    menu.feed(key(pygame.K_LEFT))
    menu.feed(key(pygame.K_LEFT))
    assert menu.index == 0
    menu.feed(key(pygame.K_RETURN))
    assert menu.chosen == "01_rope_bridge"


def test_menu_by_mouse():
    menu = Menu()
    at = menu.card_rect(1).center
    menu.feed(pygame.event.Event(pygame.MOUSEMOTION, pos=at))
    assert menu.index == 1 and menu.chosen is None
    menu.feed(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(2, 2), button=1))
    assert menu.chosen is None
    menu.feed(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=at, button=1))
    assert menu.chosen == "02_grapple"


def test_menu_by_pad_waits_for_the_button_to_be_let_go():
    menu = Menu()
    menu.feed_pad(PadState(held={"action"}))
    assert menu.chosen is None
    menu.feed_pad(PadState(x=1.0))
    menu.feed_pad(PadState(x=1.0))
    assert menu.index == 1
    menu.feed_pad(PadState(held={"action"}))
    assert menu.chosen == "02_grapple"


def test_many_games_scroll_into_view(monkeypatch):
    monkeypatch.setattr(catalog, "names", lambda: [f"{i:02}_game" for i in range(1, 14)])
    monkeypatch.setattr(catalog, "load", lambda name: Toy)
    menu = Menu()
    for _ in range(6):
        menu.feed(key(pygame.K_DOWN))
    assert menu.index == 12
    for _ in range(120):
        menu.update(1 / 60)
    assert 0 < menu.card_rect(12).top and menu.card_rect(12).bottom < 720


def test_menu_draws_every_thumbnail(screen):
    menu = Menu()
    for i in range(len(menu.names)):
        menu.scroll = 0.0
        menu.scroll = float(max(0, menu.card_rect(i).bottom - screen.get_height()))
        menu.draw(screen)
        rect = menu.card_rect(i)
        row = range(rect.left + 20, rect.right - 20, 4)
        colors = {tuple(screen.get_at((x, rect.top + 100))) for x in row}
        assert len(colors) > 8, "a card without a picture is one plain colour"
        assert catalog.thumbnail_path(menu.names[i]).stat().st_size < 100_000


def run_window(screen, monkeypatch, script):
    """Play Toy in a window whose events come from `script`: frame -> list of events."""
    monkeypatch.setattr(catalog, "load", lambda name: Toy)
    frames = iter(range(1000))
    monkeypatch.setattr(pygame.event, "get", lambda: script.get(next(frames), []))
    shell = window.Window(screen)
    shell.clock = type("Clock", (), {"tick": staticmethod(lambda fps: 16)})()
    return shell


def test_window_restart_pause_and_back(screen, monkeypatch):
    seen = []
    monkeypatch.setattr(overlay, "draw", lambda s, g, paused=False: seen.append((g.frame, g.state, paused)))
    shell = run_window(
        screen,
        monkeypatch,
        {
            0: [key(pygame.K_RIGHT)],
            14: [key(pygame.K_r), key(pygame.K_RIGHT, False)],
            16: [key(pygame.K_p)],
            18: [key(pygame.K_p)],
            20: [key(pygame.K_ESCAPE)],
        },
    )
    assert shell.play("toy") == "menu"
    assert seen[12][1] == WON
    assert seen[14] == (1, PLAYING, False)
    assert seen[16][2] and seen[17][2] and seen[16][0] == seen[17][0]
    assert not seen[18][2]


def test_window_space_plays_again_and_closing_quits(screen, monkeypatch):
    seen = []
    monkeypatch.setattr(overlay, "draw", lambda s, g, paused=False: seen.append(g.restarts))
    shell = run_window(
        screen,
        monkeypatch,
        {0: [key(pygame.K_RIGHT)], 15: [key(pygame.K_SPACE)], 20: [pygame.event.Event(pygame.QUIT)]},
    )
    assert shell.play("toy") == "quit"
    assert seen[14] == 0 and seen[15] == 1
