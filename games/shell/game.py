"""The contract between a game and the shell that runs it.

A game is one file `games/NN_name.py` with a class `Game` in it that derives from this one. The shell
makes it, calls `setup()`, and then once a frame, in this order:

    handle(event)      for each pygame event (most games need none: `self.controls` has the state)
    update(dt)         dt in seconds; not called while paused or after the game was won or lost
    draw(surface)      everything except the title line and the end card, which the shell draws

`setup()` is also what a restart calls, so it builds everything from nothing. A game ends by calling
`self.win(text)` or `self.lose(text)`.

`autoplay(frame)` plays the game through `self.controls`, just as a player would. Headless runs use it:
pictures show the game being played, and a test proves that it can be won.
"""

from __future__ import annotations

from games.shell.controls import Controls

PLAYING, WON, LOST = "playing", "won", "lost"


class Game:
    """Base of all games."""

    title = "Untitled"
    idea = ""  # what the file teaches, one line, shown in the menu
    goal = ""  # what the player has to do, one line
    keys: tuple[tuple[str, str], ...] = ()  # (input, what it does), shown at the start
    size = (1280, 720)  # pixels of the window
    poster_frame = 240  # the autoplay frame that shows the game at its best
    demo_frames = 3600  # autoplay has ended the game by then

    def __init__(self) -> None:
        self.controls = Controls(self.size)
        self.state = PLAYING
        self.message = ""
        self.frame = 0  # updates since the last restart
        self.restarts = 0

    # What a game writes -----------------------------------------------------------------------

    def setup(self) -> None:
        """Build the level from nothing. Called at the start and at each restart."""
        raise NotImplementedError

    def handle(self, event) -> None:
        """Look at one pygame event; the controls have taken it already."""

    def update(self, dt: float) -> None:
        """Advance the game by `dt` seconds."""
        raise NotImplementedError

    def draw(self, surface) -> None:
        """Draw one frame over the whole of `surface`."""
        raise NotImplementedError

    def draw_timings(self, surface) -> None:
        """Draw what the frame costs over the picture (F1)."""

    def autoplay(self, frame: int) -> None:
        """Set `self.controls` (see `Controls.script`) for this frame of the demonstration."""

    # What the shell and the games call --------------------------------------------------------

    def win(self, message: str = "") -> None:
        """End the game as won; the first of win and lose counts."""
        self._end(WON, message)

    def lose(self, message: str = "") -> None:
        """End the game as lost; the first of win and lose counts."""
        self._end(LOST, message)

    def _end(self, state: str, message: str) -> None:
        if self.state == PLAYING:
            self.state, self.message = state, message

    def start(self) -> None:
        """Set the game up for the first frame, or again from the first frame."""
        self.state, self.message, self.frame = PLAYING, "", 0
        self.controls.clear()
        self.setup()

    def restart(self) -> None:
        """Begin again."""
        self.restarts += 1
        self.start()

    def step(self, dt: float, auto: bool = False) -> None:
        """One frame: the demonstration's input if `auto`, the edges of the controls, then `update`."""
        if self.state != PLAYING:
            return
        if auto:
            self.autoplay(self.frame)
        self.controls.advance(dt)
        self.update(dt)
        self.frame += 1
