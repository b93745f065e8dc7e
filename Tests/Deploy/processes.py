"""Processes of a test: the nodes, each with its log, and what they need on disk."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

PATIENCE = 60


def free_port():
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


def until(is_true, what, patience=PATIENCE):
    """Ask until it is so; a deadline, never a guess how long it takes."""
    deadline = time.monotonic() + patience
    while not is_true():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)


class Process:
    """A program that is gone when the test is."""

    def __init__(self, arguments, log, **more):
        self.log = Path(log)
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *arguments], stdout=file, stderr=file, start_new_session=True,
                **{"stdin": subprocess.DEVNULL} | more,
            )  # fmt: skip

    def stop(self):
        """As an operator stops it; gives the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def kill(self):
        """With the workers it made, which would otherwise go on in its place."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def check_alive(self):
        assert self.process.poll() is None, self.log.read_text()[-2000:]


class Node:
    """One server on a port of its own, which stays the same when it is started again."""

    def __init__(self, program, environment, folder, name, socket_of_a_unit=None):
        self.program, self.socket = program, socket_of_a_unit
        self.port = socket_of_a_unit.getsockname()[1] if socket_of_a_unit else free_port()
        self.log = folder / f"{name}.log"
        self.log.touch()
        self.environment = environment | {"ENFILADE_LISTEN": f"127.0.0.1:{self.port}"}
        self.process = None

    def start(self):
        began = len(self.entries())
        if self.socket is None:
            self.process = Process([self.program, "serve"], self.log, env=self.environment)
        else:
            # As systemd starts a service that has a socket unit: it inherits the socket as descriptor 3.
            script = 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve 3<&0 </dev/null'
            arguments = ["sh", "-c", script, self.program]
            self.process = Process(arguments, self.log, env=self.environment, stdin=self.socket)
        until(lambda: self.has("started", began), "the start of a node")

    def stop(self):
        if self.process is None:
            return 0
        process, self.process = self.process, None
        return process.stop()

    def entries(self):
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def has(self, event, since=0):
        if self.process is not None:
            self.process.check_alive()
        return any(entry["event"] == event for entry in self.entries()[since:])

    def request(self, request_id):
        """The log's line about a request, or None."""
        return next((entry for entry in self.entries() if entry.get("requestId") == request_id), None)


class Site:
    """What all nodes share: database, keys, public address."""

    def __init__(self, folder, port):
        self.folder, self.port = folder, port
        self.program = str(Path(os.environ["ENFILADE_BINARY"]).resolve())
        self.url = f"https://127.0.0.1:{port}"
        self.password = folder / "admin-password"
        self.password.write_text("the administrator of the test\n")
        token = folder / "metrics-token"
        token.write_text("the token of the metrics\n")
        token.chmod(0o600)
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "ENFILADE_DATABASE_URL": os.environ["ENFILADE_DATABASE_URL"],
            "ENFILADE_PUBLIC_URL": self.url,
            "ENFILADE_ROOT_KEY_FILE": str(folder / "root-key"),
            "ENFILADE_METRICS_TOKEN_FILE": str(token),
            "ENFILADE_TRUSTED_PROXIES": "127.0.0.1",
            "ENFILADE_RATE_LIMIT_PERCENT": "0",
            "ENFILADE_PASSWORD_MIB": "8",
        }
        self.run("key", "create", str(folder / "root-key"))
        self.run("migrate")
        self.run("admin", "create", "--username", "admin", "--password-file", str(self.password))

    def run(self, *arguments):
        owner = {"ENFILADE_OWNER_DATABASE_URL": os.environ["ENFILADE_OWNER_DATABASE_URL"]}
        subprocess.run([self.program, *arguments], env=self.environment | owner, check=True, stdout=subprocess.DEVNULL)

    def node(self, name, socket_of_a_unit=None):
        return Node(self.program, self.environment, self.folder, name, socket_of_a_unit)


def certificate(folder):
    """An authority and a certificate of a day for this machine's loopback address; gives the authority's file."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "1", "-subj", "/CN=Throw-away CA",
            "-addext", "keyUsage=critical,keyCertSign")  # fmt: skip
    openssl("req", *key, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=enfilade")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-extfile", "names", "-days", "1", "-out", "fullchain.pem")  # fmt: skip
    (folder / "fullchain-and-key.pem").write_text((folder / "fullchain.pem").read_text() + (folder / "key.pem").read_text())
    return folder / "ca.pem"
