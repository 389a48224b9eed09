"""Tokens that clients present, and their scopes, from a file or from environment variables.

A token file has one token in each line, after its scope; empty lines and lines that begin with ``#`` are ignored::

    # dashboards
    read   kT8tQv0dV1yYw3nX5rB2
    learn  9fJm2cZxL7sQeG4hUaPd

The server keeps SHA-256 digests of the tokens and compares a presented token with all of them, in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from suffice.exceptions import InputError

__all__ = ["Scope", "Tokens"]

Scope = Literal["read", "learn"]

SHORTEST, LONGEST = 16, 512
LARGEST_FILE = 1 << 20
ENVIRONMENT = "SUFFICE_TOKEN"
VARIABLES: dict[str, Scope] = {f"{ENVIRONMENT}_READ": "read", f"{ENVIRONMENT}_LEARN": "learn"}
CHARACTERS = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # of a bearer token in RFC 6750
ADVICE = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


@dataclass(frozen=True)
class Tokens:
    """Digests of the tokens that the server accepts, with their scopes.

    Parameters
    ----------
    digests : dict of bytes to {"read", "learn"}
        Scope of each token, by the SHA-256 digest of the token. Scope "learn" includes "read".
    """

    digests: Mapping[bytes, Scope] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return bool(self.digests)

    @classmethod
    def of(cls, tokens: Mapping[str, Scope]) -> Tokens:
        """Tokens with their scopes.

        >>> tokens = Tokens.of({"kT8tQv0dV1yYw3nX5rB2": "read"})
        >>> tokens.scope_of(b"Bearer kT8tQv0dV1yYw3nX5rB2"), tokens.scope_of(b"Bearer guess")
        ('read', None)
        """
        return cls({_digest(token.encode()): scope for token, scope in tokens.items()})

    @classmethod
    def from_file(cls, path: str) -> Tokens:
        """Read a token file.

        Raises `InputError` if other users can read the file, or if a line is not a scope and a token.
        """
        try:
            with open(path, encoding="utf-8") as file:
                _check_private(path, os.fstat(file.fileno()))
                lines = file.read(LARGEST_FILE + 1).splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
            raise InputError(f"Cannot read the token file {path}: {reason}.", file=path) from None
        found: dict[str, Scope] = {}
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            place = f"{path}, line {number}"
            if len(words) != 2 or words[0] not in ("read", "learn"):
                raise InputError(
                    f"{place} is not a scope and a token. Write 'read' or 'learn', a space, and the token.",
                    file=path,
                    line=number,
                )
            if words[1] in found:
                raise InputError(f"{place} repeats a token. Give each client its own.", file=path, line=number)
            try:
                _check(words[1], place)
            except InputError as error:
                raise error.restated(*error.sentence, file=path, line=number) from None
            found[words[1]] = "learn" if words[0] == "learn" else "read"
        if not found:
            raise InputError(f"{path} holds no token. Write lines of a scope and a token. {ADVICE}", file=path)
        return cls.of(found)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Tokens:
        """Read the variables SUFFICE_TOKEN_READ and SUFFICE_TOKEN_LEARN.

        >>> bool(Tokens.from_environment({"PATH": "/bin"}))
        False
        """
        found: dict[str, Scope] = {}
        for name in sorted(each for each in environment if each.startswith(ENVIRONMENT)):
            if name not in VARIABLES:
                raise InputError(
                    f"The environment variable {name} is unknown. Name it {' or '.join(VARIABLES)}, for its scope."
                )
            _check(environment[name], f"The environment variable {name}")
            found.setdefault(environment[name], VARIABLES[name])  # "learn" first, which includes "read"
        return cls.of(found)

    def merge(self, other: Tokens) -> Tokens:
        """The tokens of both."""
        return Tokens({**self.digests, **other.digests})

    def scope_of(self, authorization: bytes) -> Scope | None:
        """The scope of the token in an Authorization header; None if it is not a bearer token that is known."""
        scheme, _, token = authorization.partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        presented, found = _digest(token.strip(b" ")), None
        for digest, scope in self.digests.items():  # all of them, so that time does not tell which one is near
            if hmac.compare_digest(digest, presented):
                found = scope
        return found


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _check(token: str, place: str) -> None:
    """Raises `InputError` for a token that is easy to guess or that no header can carry; never quotes it."""
    if not CHARACTERS.fullmatch(token):
        raise InputError(f"{place}: a token consists of letters, digits and -._~+/ only. {ADVICE}")
    if not SHORTEST <= len(token) <= LONGEST:
        raise InputError(f"{place}: the token has {len(token)} characters; expected {SHORTEST} to {LONGEST}. {ADVICE}")


def _check_private(path: str, status: os.stat_result) -> None:
    if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(
            f"Other users of this machine can read or change the token file {path} (mode "
            f"{stat.S_IMODE(status.st_mode):04o}). Run chmod 600 {path!r}.",
            file=path,
        )
