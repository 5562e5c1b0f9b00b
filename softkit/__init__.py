"""Soft-body physics for 2D Python games, beside the pymunk space that you already have."""

from softkit.threads import build_info, get_threads, set_threads

__all__ = ["build_info", "get_threads", "set_threads"]
