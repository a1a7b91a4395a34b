from __future__ import annotations

import pytest

from accounts.webhooks.delivery.http_response import (
    BODY_MAX,
    CHUNK_LINE_MAX,
    HEAD_MAX,
    INTERIM_MAX,
    Answer,
    AnswerInvalid,
)

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "without a body": (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
    "of a length": (
        b"HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        True,
    ),
    "without a reason": (b"HTTP/1.1 500\r\ncontent-length:0\r\n\r\n", 500, b"", True),
    "in chunks": (
        CHUNKED + b"3;name=x\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n",
        200,
        b"abc0123456789",
        True,
    ),
    "after interim ones": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        b"HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\n!",
        201,
        b"!",
        True,
    ),
    "of bare line feeds": (
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        200,
        b"ok",
        True,
    ),
    "closing": (
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        False,
    ),
    "of HTTP/1.0": (
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        False,
    ),
    "of HTTP/1.0 staying": (
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
        200,
        b"",
        True,
    ),
    "of one length twice": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        True,
    ),
    "of chunks and a length": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nok\r\n0\r\n\r\n",
        200,
        b"ok",
        False,
    ),
    "without the body it says": (
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
        304,
        b"",
        False,
    ),
    "of another protocol": (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
        101,
        b"",
        False,
    ),
}


def read(*pieces):
    answer = Answer()
    items = [answer.feed(piece) for piece in pieces]
    return answer, items


@pytest.mark.parametrize(
    ("sent", "code", "body", "keeps_open"), ANSWERS.values(), ids=ANSWERS.keys()
)
def test_an_answer_is_the_same_wherever_it_is_cut(sent, code, body, keeps_open):
    cuts = [(sent[:at], sent[at:]) for at in range(len(sent))]
    single = [sent[at : at + 1] for at in range(len(sent))]

    for pieces in [(sent,), *cuts, single]:
        answer, over = read(*pieces)
        assert (answer.code, bytes(answer.body)) == (code, body)
        assert answer.keeps_open == keeps_open
        assert over == [False] * (len(pieces) - 1) + [True]


def test_headers_are_kept_in_their_order_and_form():
    answer, _ = read(
        b"HTTP/1.1 429 Slow Down\r\nX-B:  two \r\nretry-after: 7\r\nX-A: one\r\n"
        b" \tfolded\r\nX-B: again\r\nX-Empty:\r\nX-Odd: \xff\xc3\xbc\r\n"
        b"Content-Length: 0\r\n\r\n"
    )

    assert answer.headers == [
        ("X-B", "two"),
        ("retry-after", "7"),
        ("X-A", "one folded"),
        ("X-B", "again"),
        ("X-Empty", ""),
        ("X-Odd", "\ufffdü"),
        ("Content-Length", "0"),
    ]
    assert (answer.header("retry-after"), answer.header("x-b")) == ("7", "two")
    assert answer.header("x-none") == ""


@pytest.mark.parametrize(
    "sent",
    [
        b"SSH-2.0-server",
        b"\x00\xff no http at all\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\n Content-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\nok",
        CHUNKED + b"x\r\n",
        CHUNKED + b"-1\r\n",
        CHUNKED + b"2\r\nokay\r\n0\r\n\r\n",
        CHUNKED + b"1" * (CHUNK_LINE_MAX + 1),
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * HEAD_MAX,
        b"HTTP/1.1 102 Processing\r\n\r\n" * (INTERIM_MAX + 1),
    ],
    ids=lambda sent: sent[-24:].decode("ascii", "backslashreplace"),
)
def test_what_is_no_answer_is_refused(sent):
    with pytest.raises(AnswerInvalid):
        Answer().feed(sent)


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!",
        CHUNKED + b"0\r\n\r\n!",
    ],
    ids=["nothing", "length", "chunks"],
)
def test_what_nobody_asked_for_closes_the_connection(sent):
    answer, over = read(sent)

    assert (over, answer.keeps_open) == ([True], False)


def test_a_body_without_a_length_lasts_until_the_connection_ends():
    answer, over = read(b"HTTP/1.1 200 OK\r\n\r\nto", b"", b"the end")

    assert (over, answer.code, bytes(answer.body)) == ([False] * 3, 200, b"tothe end")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
        CHUNKED + b"5F5E0FF\r\n",
    ],
    ids=["no length", "length", "chunks"],
)
def test_of_a_long_body_the_start_is_kept_and_the_rest_not_wanted(head):
    answer, over = read(head + b"x" * BODY_MAX, b"yz")

    assert over == [False, True]
    assert bytes(answer.body) == b"x" * BODY_MAX
    assert (answer.is_cut, answer.keeps_open) == (True, False)


def test_a_whole_body_that_came_at_once_keeps_its_connection_though_it_is_cut():
    length = BODY_MAX + 5
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length

    answer, over = read(head + b"x" * length)

    assert (over, len(answer.body)) == ([True], BODY_MAX)
    assert (answer.is_cut, answer.keeps_open) == (True, True)
