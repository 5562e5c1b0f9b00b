"""Shared by all tests: no window, no sound, reproducible examples, thread count back to its default."""

import os

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["SDL_AUDIODRIVER"] = "dummy"
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"

import pytest
from hypothesis import settings

import softkit

# The build machine draws the same examples each time; a developer's machine draws new ones.
settings.register_profile("softkit", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("softkit")


@pytest.fixture(autouse=True)
def default_threads():
    yield
    softkit.set_threads(None)
