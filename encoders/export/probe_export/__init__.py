"""Turns published vision encoders into bundles that probe reads (../BUNDLE.md)."""

__version__ = "0.1.0"
