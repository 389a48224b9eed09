"""Token files, environment variables, and what a presented token allows."""

import pytest

from suffice import InputError
from suffice.server.tokens import Tokens

READ, LEARN = "reads-only-" + "r" * 12, "learns-too-" + "l" * 12


def bearer(token):
    return f"Bearer {token}".encode()


def token_file(folder, content, mode=0o600):
    path = folder / "tokens"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return str(path)


def test_a_file_gives_each_token_its_scope(tmp_path):
    found = Tokens.from_file(token_file(tmp_path, f"# people\n\nread {READ}\n  learn\t{LEARN}  \n"))
    assert found.scope_of(bearer(READ)) == "read"
    assert found.scope_of(bearer(LEARN)) == "learn"
    assert found.scope_of(f"bearer   {LEARN} ".encode()) == "learn"


@pytest.mark.parametrize(
    "authorization",
    [
        b"",
        READ.encode(),
        b"Bearer",
        b"Bearer ",
        bearer(READ[:-1]),
        bearer(READ + "r"),
        bearer(READ.upper()),
        b"Basic " + READ.encode(),
        f"Bearer {READ} {READ}".encode(),
        b"Bearer \xff\x00" + b"x" * 100_000,
    ],
)
def test_other_authorizations_have_no_scope(authorization):
    assert Tokens.of({READ: "read"}).scope_of(authorization) is None


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("", None, "holds no token"),
        ("# nothing\n", None, "holds no token"),
        (f"{READ}\n", 1, "not a scope and a token"),
        (f"# first\nwrite {READ}\n", 2, "not a scope and a token"),
        (f"read {READ} extra\n", 1, "not a scope and a token"),
        (f"read {READ}\nlearn {READ}\n", 2, "repeats a token"),
        ("read short\n", 1, "has 5 characters; expected 16 to 512"),
        (f"read {'x' * 513}\n", 1, "has 513 characters"),
        ("read contraseña-muy-larga\n", 1, "letters, digits"),
        ("read 0123456789=0123456789\n", 1, "letters, digits"),
        (b"read \xff\xfe0123456789012345\n", None, "not UTF-8"),
    ],
)
def test_a_bad_file_is_an_error_with_its_place_and_without_its_tokens(tmp_path, content, line, words):
    path = token_file(tmp_path, content)
    with pytest.raises(InputError, match=words) as caught:
        Tokens.from_file(path)
    assert (caught.value.file, caught.value.line) == (path, line)
    assert not any(each in str(caught.value) for each in (READ, "short", "contraseña", "xxxx"))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o666])
def test_a_file_that_others_can_read_or_change_is_refused(tmp_path, mode):
    path = token_file(tmp_path, f"read {READ}\n", mode)
    with pytest.raises(InputError, match=rf"mode {mode:04o}\). Run chmod 600 "):
        Tokens.from_file(path)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"Cannot read the token file .*No such file"):
        Tokens.from_file(str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"Cannot read the token file .*directory"):
        Tokens.from_file(str(tmp_path))


def test_the_environment_gives_one_token_for_each_scope():
    found = Tokens.from_environment({"SUFFICE_TOKEN_READ": READ, "SUFFICE_TOKEN_LEARN": LEARN, "HOME": "/"})
    assert (found.scope_of(bearer(READ)), found.scope_of(bearer(LEARN))) == ("read", "learn")
    both = Tokens.from_environment({"SUFFICE_TOKEN_READ": READ, "SUFFICE_TOKEN_LEARN": READ})
    assert both.scope_of(bearer(READ)) == "learn"


@pytest.mark.parametrize("name", ["SUFFICE_TOKEN", "SUFFICE_TOKENS", "SUFFICE_TOKEN_WRITE"])
def test_a_variable_that_would_be_ignored_is_an_error(name):
    with pytest.raises(InputError, match=f"{name} is unknown. Name it SUFFICE_TOKEN_READ or SUFFICE_TOKEN_LEARN"):
        Tokens.from_environment({name: READ})


def test_a_weak_token_in_the_environment_is_an_error():
    with pytest.raises(InputError, match="SUFFICE_TOKEN_READ: a token consists of letters"):
        Tokens.from_environment({"SUFFICE_TOKEN_READ": ""})
    with pytest.raises(InputError, match="SUFFICE_TOKEN_READ: the token has 8 characters"):
        Tokens.from_environment({"SUFFICE_TOKEN_READ": "password"})


def test_tokens_are_neither_kept_nor_shown():
    found = Tokens.of({READ: "read"}).merge(Tokens.of({LEARN: "learn"}))
    assert (found.scope_of(bearer(READ)), found.scope_of(bearer(LEARN))) == ("read", "learn")
    assert READ not in repr(found) + repr(found.digests)
    assert bool(found)
    assert not Tokens()
    assert not Tokens.from_environment({})


def test_every_token_is_compared(monkeypatch):
    """The time of a comparison does not depend on which token is right."""
    compared = []
    monkeypatch.setattr("suffice.server.tokens.hmac.compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    found = Tokens.of({READ: "read", LEARN: "learn", "third-" + "t" * 20: "read"})
    for each in (READ, LEARN, "unknown"):
        compared.clear()
        found.scope_of(bearer(each))
        assert len(compared) == 3
        assert all(len(digest) == 32 for pair in compared for digest in pair)
