from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from tests.coordinator.test_store import trained
from thzsync.coordinator import save_policy
from thzsync.errors import ThzSyncError
from thzsync.files import (
    content_digest,
    dump_json,
    prepare_file,
    read_bounded,
    write_atomically,
)


def full_disk(_: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_atomically(tmp_path / "p", b"old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ThzSyncError, match=f"{tmp_path / 'p'}: .*No space left on device"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [f.name for f in tmp_path.iterdir()] == ["p"]


def test_a_policy_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = trained("thz-sync", 3)
    save_policy(policy, tmp_path / "p")
    old = (tmp_path / "p").read_bytes()
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ThzSyncError, match=f"{tmp_path / 'p'}: .*No space left on device"):
        save_policy(policy, tmp_path / "p")
    assert (tmp_path / "p").read_bytes() == old


def test_a_file_is_read_whole_unless_it_is_too_large(tmp_path: Path) -> None:
    file = write_atomically(tmp_path / "x", b"12345")
    assert read_bounded(file, 5, "a number") == b"12345"
    with pytest.raises(ThzSyncError, match=f"{file}: .* 4 bytes; .*a number"):
        read_bounded(file, 4, "a number")


def test_a_digest_belongs_to_the_content(tmp_path: Path) -> None:
    a, b = (write_atomically(tmp_path / name, b"same") for name in "ab")
    assert content_digest(a) == content_digest(b) != content_digest(tmp_path / "absent")


def test_a_place_to_write_is_checked_beforehand(tmp_path: Path) -> None:
    assert prepare_file(tmp_path / "new" / "p").parent.is_dir()
    with pytest.raises(ThzSyncError, match=f"^{tmp_path}: "):
        prepare_file(tmp_path)
    write_atomically(tmp_path / "file", b"")
    with pytest.raises(ThzSyncError, match=f"^{tmp_path / 'file'}: "):
        prepare_file(tmp_path / "file" / "p")


def test_json_holds_no_control_characters_and_no_nan() -> None:
    text = dump_json({"a\x9b": "\x1b\x7f\x85", "b": float("nan"), "c": np.float64(2)})
    assert not set(text) & {"\x1b", "\x7f", "\x85", "\x9b"}
    assert json.loads(text) == {"a\x9b": "\x1b\x7f\x85", "b": None, "c": 2.0}
