from __future__ import annotations

from django.http import HttpResponse

from portal.lib.web.request_ids import (
    HEADER,
    REQUEST_ID_LENGTH,
    RequestIdMiddleware,
    get_current_request_id,
)


def test_a_request_has_an_id_of_its_own_while_it_is_served(rf):
    seen = []

    def view(_request):
        seen.append(get_current_request_id())
        return HttpResponse()

    serve = RequestIdMiddleware(view)

    answers = [serve(rf.get("/", headers={HEADER: "forged"})) for _ in range(2)]

    assert [answer[HEADER] for answer in answers] == seen
    assert len(set(seen)) == 2
    assert {len(each) for each in seen} == {REQUEST_ID_LENGTH}
    assert get_current_request_id() == ""
