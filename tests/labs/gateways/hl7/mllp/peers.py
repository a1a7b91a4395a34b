"""Peers of MLLP: certificates, and the client and server of the `hl7` package."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import hl7
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hl7.mllp import open_hl7_connection, start_hl7_server

HOST = "127.0.0.1"
SEPARATOR = b"\x1c\r"


@dataclass(frozen=True)
class Identity:
    """A self-signed certificate and its key, as files and as text."""

    certificate: str
    key: str
    pem: str


def make_identity(folder, name, *, days=365):
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=400))
        .not_valid_after(now + timedelta(days=days))
        # What a peer asks for that checks certificates strictly (RFC 5280).
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        )
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(pem)
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return Identity(str(paths[0]), str(paths[1]), pem.decode())


def free_port():
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


def client_tls(own, server):
    """A lab's context for calling us: it shows `own` and trusts `server` alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=server.pem)
    if own is not None:
        context.load_cert_chain(own.certificate, own.key)
    return context


def server_tls(own, client):
    """A lab's context for our calls."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.certificate, own.key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=client.pem)
    return context


@asynccontextmanager
async def lab_client(port, *, tls=None):
    """The hl7 package's client: `reader.readmessage`, `writer.writemessage`."""
    # Its encoding is ASCII unless told otherwise.
    reader, writer = await open_hl7_connection(
        HOST, port, ssl=tls, encoding="utf-8", limit=1 << 20
    )
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def ask(port, content, *, tls=None):
    """Send a message as a lab does, and return the acknowledgement."""
    async with lab_client(port, tls=tls) as (reader, writer):
        writer.writemessage(hl7.parse(content.decode()))
        await writer.drain()
        return await asyncio.wait_for(reader.readmessage(), 20)


async def raw_exchange(port, data, *, then_end=False):
    """Send bytes; return all that comes until the other side closes."""
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(data)
        await writer.drain()
        if then_end:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(), 20)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def acknowledge(message, code="AA", error=""):
    """The answer of a lab to one of our messages."""
    answer = message.create_ack(code)
    if error:
        return hl7.parse(f"{str(answer).rstrip()}\rERR|||{error}|E\r")
    return answer


@asynccontextmanager
async def lab_server(answer, *, port=0, tls=None):
    """The hl7 package's server; `answer(message)` is its acknowledgement, or None."""
    tasks = set()

    async def serve(reader, writer):
        tasks.add(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            while True:
                found = answer(await reader.readmessage())
                if found is None:
                    break
                writer.writemessage(found)
                await writer.drain()
        writer.close()

    server = await start_hl7_server(
        serve, HOST, port, ssl=tls, encoding="utf-8", limit=1 << 20
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
