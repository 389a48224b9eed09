"""What the types of columns are called."""

from __future__ import annotations

from typing import Any

__all__ = ["stated"]


def stated(kind: Any) -> str:
    """A type in a word."""
    import pyarrow.types as at

    if at.is_dictionary(kind):
        return "category"
    if at.is_boolean(kind):
        return "yes/no"
    if at.is_integer(kind):
        return "whole number"
    if at.is_floating(kind):
        return "number"
    if at.is_duration(kind):
        return "duration"
    return "time" if at.is_temporal(kind) else "text"
