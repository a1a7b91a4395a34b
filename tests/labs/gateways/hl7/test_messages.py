from __future__ import annotations

import pytest

from labs.gateways.hl7.messages import (
    MAX_FILE_BYTES,
    MAX_PARTS,
    MalformedMessage,
    build_hl7_segment,
    parse_hl7_message,
    split_hl7_messages,
)
from tests.factories.hl7 import make_oru, make_test, obx


def one_value(raw: bytes) -> str:
    return parse_hl7_message(raw).segments[-1].text(5)


def text_of(value: str) -> str:
    return one_value(make_oru(make_test(obx(value, type="FT"))))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a\T\b\F\c\S\d\R\e\E\f", r"a&b|c^d~e\f"),
        (r"one\.br\two\.sp2\three", "one\ntwo\n\nthree"),
        (r"\H\high\N\ light", "high light"),
        (r"\X4142\ and \XC2B5\g", "AB and µg"),
        (r"\X0D0A\end", "end"),
        (r"C:\temp", r"C:\temp"),
        (
            r"\Zown\ \X4G\ \X00\ \Cabc\ \.sp99x\ \\",
            r"\Zown\ \X4G\ \X00\ \Cabc\ \.sp99x\ \\",
        ),
        ('""', ""),
    ],
)
def test_escape_sequences_are_replaced_and_unknown_ones_stay_as_they_came(
    written, text
):
    assert text_of(written) == text


def test_a_formatting_command_cannot_blow_a_text_up():
    assert len(text_of(r"a\.sk999999999\b")) == 202


@pytest.mark.parametrize(
    ("told", "encoding", "text"),
    [
        ("UNICODE UTF-8", "utf-8", "Žaneta µ"),
        ("8859/1", "latin-1", "Müller µ"),
        ("8859/2", "iso8859-2", "Žaneta"),
        ("8859/15", "iso8859-15", "5 €"),
        ("ISO IR87~ISO IR87", "iso2022_jp", "山田"),
        ("GB 18030-2000", "gb18030", "山田"),
        ("", "utf-8", "Müller"),
        ("", "cp1252", "Müller µ"),
        ("ASCII", "ascii", "Muller"),
    ],
)
def test_text_is_read_in_the_character_set_of_the_header(told, encoding, text):
    raw = make_oru(make_test(obx(text, type="ST")), character_set=told)

    assert one_value(raw.decode().encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_mark_at_the_start_tells_the_character_set_of_a_file(encoding):
    raw = make_oru(make_test(obx("Žaneta", type="ST")), character_set="UNICODE UTF-16")

    (message,) = split_hl7_messages(raw.decode().encode(encoding))

    assert one_value(message) == "Žaneta"


def test_a_file_holds_many_messages_however_their_lines_end():
    first = make_oru(make_test(obx("1")), control_id="A")
    second = make_oru(make_test(obx("2")), control_id="B").replace(b"\r", b"\r\n")
    third = b"\x0b" + make_oru(make_test(obx("3")), control_id="C") + b"\x1c\r"
    batch = b"FHS|^~\\&\rBHS|^~\\&\r" + first + second + b"BTS|2\rFTS|1\r"

    messages = [parse_hl7_message(raw) for raw in split_hl7_messages(batch + third)]

    assert [message.control_id for message in messages] == ["A", "B", "C"]
    assert [message.segments[-1].text(5) for message in messages] == ["1", "2", "3"]


def test_other_delimiters_are_read_from_the_header():
    raw = make_oru(make_test(obx("a\\T\\b", type="ST")))
    turned = raw.translate(bytes.maketrans(b"|^~\\&", b"#$%!*"))

    message = parse_hl7_message(turned)

    assert message.segments[-1].text(5) == "a*b"
    assert message.segments[1].text(5, 2) == "Ada"


MESSAGE = make_oru(make_test(obx()))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "100"),
        (b"%PDF-1.7 no message", "100"),
        (b"MSH", "100"),
        (b"MSH|^~\\", "100"),
        (b"MSH|||||", "100"),
        (b"MSHABCDE|x\rPID|1", "100"),
        (b"BHS|^~\\&\r" + MESSAGE, "100"),
        (b"\xff\xfe\x00", "102"),
        (MESSAGE.replace(b"UNICODE UTF-8", b"KLINGON") + b"ZZZ|\xff\r", "103"),
        (MESSAGE + b"ZZZ|" + b"^" * MAX_PARTS, "102"),
        (MESSAGE + b"x" * MAX_FILE_BYTES, "102"),
        (MESSAGE * 1001, "102"),
    ],
    ids=range(12),
)
def test_what_is_no_message_is_refused_by_a_code(content, code):
    with pytest.raises(MalformedMessage) as caught:
        [parse_hl7_message(raw) for raw in split_hl7_messages(content)]

    assert caught.value.code == code


def test_what_is_written_is_read_back_the_same():
    texts = ["a|b^c~d\\e&f", "two\nlines", "Žaneta", "\\.br\\"]
    header = build_hl7_segment("MSH", {10: "1", 18: "UNICODE UTF-8"})
    written = (
        f"{header}\r{build_hl7_segment('ZZZ', {2: texts, 3: texts[0]})}\r".encode()
    )

    segment = parse_hl7_message(written).segments[1]

    assert segment.components(2) == texts
    assert segment.text(3) == texts[0]


def test_nothing_of_a_message_is_logged(caplog):
    text_of(r"Secret \Zown\ \X4G\ \\ \Cabc\ ")

    assert caplog.text == ""
