"""The version of the package: records carry it."""

__version__ = "0.3.0"
