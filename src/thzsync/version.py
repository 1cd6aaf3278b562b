"""The version of the package: records carry it."""

__version__ = "0.2.0.dev0"
