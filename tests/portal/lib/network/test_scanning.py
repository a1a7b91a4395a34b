from __future__ import annotations

import socketserver
import struct
import threading
from contextlib import contextmanager
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.lib.errors import DomainError, Unavailable
from portal.lib.network.scanning import require_malware_free_upload
from portal.ops.checks import check_upload_scanner
from tests.factories.reports import make_pdf
from tests.factories.users import make_user
from tests.jobs import queued
from tests.reports.uploads import nothing_happened, stored_files, upload
from users.models import ImportJob

EVIL = b"X5O!P%@AP the harmless half of a test virus"
LIMIT = 2_000_000  # of this scanner's stream


class Clamd(socketserver.StreamRequestHandler):
    """As much of clamd as is spoken to."""

    def handle(self):
        command = self.rfile.read(len(b"zINSTREAM\0"))
        taken = b""
        while size := struct.unpack(">I", self.rfile.read(4))[0]:
            taken += self.rfile.read(size)
            if len(taken) > LIMIT:
                self.wfile.write(b"INSTREAM size limit exceeded. ERROR\0")
                return
        said = b"stream: Eicar-Test-Signature FOUND" if EVIL in taken else b"stream: OK"
        self.wfile.write((said if command == b"zINSTREAM\0" else b"UNKNOWN") + b"\0")


class UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@contextmanager
def running(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def clamd(settings):
    with running(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Clamd)) as server:
        port = server.server_address[1]
        settings.UPLOAD_SCANNER = f"clamd://127.0.0.1:{port}"
        yield


def test_what_the_scanner_names_is_refused_and_the_rest_is_read_on(clamd):
    clean = BytesIO(b"a" * 600_000)

    require_malware_free_upload(clean)
    with pytest.raises(DomainError) as infected:
        require_malware_free_upload(BytesIO(b"a" * 300_000 + EVIL))
    with pytest.raises(Unavailable) as too_large:  # by the scanner's own limit
        require_malware_free_upload(BytesIO(b"a" * (LIMIT + 300_000)))

    assert clean.tell() == 0
    assert infected.value.code == "file_infected"
    assert too_large.value.code == "scanner_unavailable"


def test_a_socket_is_a_scanner_too_and_a_silent_one_lets_nothing_pass(
    settings, tmp_path
):
    path = tmp_path / "clamd.ctl"
    settings.UPLOAD_SCANNER = f"clamd://{path}"

    with running(UnixServer(str(path), Clamd)):
        require_malware_free_upload(BytesIO(b"fine"))
    with pytest.raises(Unavailable):
        require_malware_free_upload(BytesIO(b"fine"))

    assert check_upload_scanner() == []
    settings.UPLOAD_SCANNER = "scanner.example:3310"
    assert [found.id for found in check_upload_scanner()] == ["portal.E012"]


@pytest.mark.django_db
def test_no_upload_is_kept_that_was_not_found_clean(
    clamd, settings, alice_api, alice_web, alice_tenant
):
    user = make_user(tenant=alice_tenant)
    imports = f"/t/alice-health/sandbox/users/{user.uuid}/imports/"

    def take(body):
        file = SimpleUploadedFile("a.csv", body, "text/csv")
        with nothing_happened(alice_tenant):
            told = upload(alice_api, user=user, files=[body])
        page = alice_web.post(imports, {"file": file, "provider": "manual"})
        return told.status_code, told.json()["code"], page.status_code

    infected = take(make_pdf() + EVIL)
    settings.UPLOAD_SCANNER = "clamd:///nowhere/clamd.ctl"
    silent = take(make_pdf())

    assert infected == (400, "file_infected", 422)
    assert silent == (503, "scanner_unavailable", 422)
    assert not ImportJob.unscoped.exists()
    assert (queued(), stored_files()) == ([], [])
