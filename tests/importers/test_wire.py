from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.importers import wire


@given(st.integers(-(2**63), 2**64 - 1))
def test_a_varint_comes_back(value: int) -> None:
    written = wire.put_varint(value)
    read, end = wire.varint(written, 0, len(written))
    assert read == value % 2**64
    assert end == len(written) <= 10
    if value < 2**63:
        assert wire.signed(read) == value


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_a_packed_list_comes_back(values: list[int]) -> None:
    field = wire.put_packed(5, values)
    found = [
        v
        for n, _, at, end in wire.fields(field, 0, len(field))
        for v in wire.packed(field, at, end)
    ]
    assert found == values


def test_a_number_that_never_ends_is_refused_after_ten_bytes() -> None:
    with pytest.raises(wire.WireError, match="never ends"):
        wire.varint(b"\xff" * 2_000_000, 0, 2_000_000)


def test_a_number_beyond_64_bits_is_refused() -> None:
    with pytest.raises(wire.WireError, match="never ends"):
        wire.varint(b"\xff" * 9 + b"\x7f", 0, 10)


def test_a_length_of_two_gigabytes_in_a_short_file_asks_for_no_memory() -> None:
    file = wire.put_varint(2**31) + b"abc"
    with pytest.raises(wire.WireError, match=r"\b2147483648\b.*\b3\b"):
        list(wire.frames(file))


def test_a_field_longer_than_its_message_is_refused() -> None:
    message = wire.put_varint(1 << 3 | 2) + wire.put_varint(9) + b"abc"
    with pytest.raises(wire.WireError, match=r"\b9\b.*\b3\b"):
        list(wire.fields(message, 0, len(message)))


@pytest.mark.parametrize("kind", [3, 4, 6, 7])
def test_wire_types_that_no_trace_has_are_refused(kind: int) -> None:
    with pytest.raises(wire.WireError, match=f"wire type {kind}"):
        list(wire.fields(bytes([1 << 3 | kind]), 0, 1))


def test_an_empty_frame_is_a_message_and_not_the_end() -> None:
    file = wire.put_frame(b"") + wire.put_frame(b"ab")
    assert [end - at for at, end in wire.frames(file)] == [0, 2]
