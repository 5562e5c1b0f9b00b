"""Scenes, peers and the runner behind `python -m benchmarks`."""
