"""Profiles of PyTorch (Kineto, one JSON file per rank)."""
