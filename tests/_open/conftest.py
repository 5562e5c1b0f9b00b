"""Tests of outcomes that are not reached: run with SOFTKIT_OPEN=1, left out otherwise."""

import os

collect_ignore_glob = [] if os.environ.get("SOFTKIT_OPEN") else ["test_*.py"]
