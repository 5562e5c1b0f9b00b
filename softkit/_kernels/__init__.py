"""Compiled from pyx/; private. Every module has a hand-written stub beside it."""
