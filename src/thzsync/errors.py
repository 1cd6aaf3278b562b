"""The one error a user can cause, the one he can wish for, and text that is safe to print."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from unicodedata import category


class ThzSyncError(ValueError):
    """Bad input: the message names the place, what was found and the remedy, in one line."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What to print, one mistake per line and nothing that a terminal would obey."""
        return (printable(" ".join(str(self).splitlines())),)


class Problems(ThzSyncError):
    """Several mistakes of one input, each a line of its own."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> Problems:
        """From one text per mistake; line breaks inside a text are escaped."""
        return cls("\n".join(map(printable, lines)))

    @property
    def lines(self) -> tuple[str, ...]:
        """The mistakes, gravest first."""
        return tuple(str(self).split("\n"))


def whole(given: object, place: str, least: int) -> int:
    """A whole number that a caller gave; what is none, or too small, is refused."""
    try:
        number = index(given)  # type: ignore[arg-type]  # anything may be given
    except TypeError:
        number = least - 1
    if number < least:
        raise ThzSyncError(f"{place}: found {given!r}; use a whole number, at least {least}")
    return number


def printable(text: str) -> str:
    """The text with control and invisible characters escaped: names come from files of others."""
    return "".join(_escaped(c) if _is_control(c) else c for c in text)


def in_one_line(problem: BaseException) -> str:
    """An exception as a line; the type's name helps where the message is not one of thzsync."""
    text = printable(" ".join(str(problem).split()))
    if isinstance(problem, ThzSyncError):
        return text
    return f"{type(problem).__name__}: {text}".removesuffix(": ")


def _is_control(character: str) -> bool:
    return category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error; inside compiled code it arrives wrapped in another."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
