"""The house under test: databases made in bulk, servers, tokens, requests as bytes."""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

ACCOUNTS = 10_000
FIRST = 100_001  # numbers of six digits, so that an id is made by appending one
ADMIN = 100_000
APP = "bench"
SLOT = "ffffffff-ffff-ffff-ffff-ffffffffffff"
MEMBER_SCOPES = "openid mailbox config"


class Failed(Exception):
    """A row that cannot be believed."""


def account(number):
    return f"0a000000-0000-7000-8000-000000{number:06d}"


def device(number):
    return f"0d000000-0000-7000-8000-000000{number:06d}"


def session(number):
    return f"05000000-0000-7000-8000-000000{number:06d}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def settings(**settings):
    """The environment with these settings of the server and no others."""
    rest = {name: value for name, value in os.environ.items() if not name.startswith("ENFILADE_")}
    return rest | {f"ENFILADE_{name}": str(value) for name, value in settings.items()}


def request(method, path, headers=(), body=b""):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers)]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


class House:
    def __init__(self, folder, postgres_socket, root):
        self.folder = pathlib.Path(folder)
        self.socket = postgres_socket
        self.program = root / ".build/release/enfilade"
        self.tool = root / ".build/release/Bench"
        self.issuer = "http://127.0.0.1:8080"
        self.root_key = self.folder / "root-key"
        self.log = self.folder / "server.log"
        self.has_base = False

    # Databases

    def psql(self, sql, database="postgres"):
        done = subprocess.run(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.socket, "-U", "postgres", "-d", database],
            input=sql, text=True, capture_output=True)
        if done.returncode:
            raise Failed(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()

    def url(self, database, role):
        return f"postgresql://{role}@/{database}?host={self.socket}"

    @contextlib.contextmanager
    def database(self):
        """A fresh copy of the seeded database; gone afterwards."""
        if not self.has_base:
            self.make_base()
        name = f"bench_{os.urandom(4).hex()}"
        self.psql(f"CREATE DATABASE {name} OWNER enfilade_owner TEMPLATE bench_base;")
        try:
            self.psql("VACUUM ANALYZE; CHECKPOINT;", name)
            yield name
        finally:
            self.psql(f"DROP DATABASE {name} WITH (FORCE);")

    def make_base(self):
        self.psql("CREATE DATABASE bench_base OWNER enfilade_owner;")
        environment = settings(OWNER_DATABASE_URL=self.url("bench_base", "enfilade_owner"))
        subprocess.run([self.program, "migrate"], env=environment, check=True, stdout=subprocess.DEVNULL)
        if not self.root_key.exists():
            subprocess.run([self.program, "key", "create", self.root_key], check=True, stdout=subprocess.DEVNULL)
        # The server itself makes the key that signs tokens.
        with self.server("bench_base"):
            pass
        seed = pathlib.Path(__file__).with_name("seed.sql").read_text()
        self.psql(seed.replace(":accounts", str(ACCOUNTS)), "bench_base")
        self.has_base = True

    # Servers

    @contextlib.contextmanager
    def server(self, database):
        server = Server(self, database)
        try:
            server.start()
            yield server
        finally:
            server.stop()

    # Tokens and requests

    def tokens(self, database, numbers, role="member", scopes=MEMBER_SCOPES, app=APP):
        """Access tokens of these accounts' sessions, good for ten minutes."""
        sealed = self.psql("SELECT encode(sealed_seed, 'base64') FROM signing_key ORDER BY activates_at LIMIT 1", database)
        lines = "".join(f"{account(n)}\t{session(n)}\t{app}\t{role}\t{scopes}\n" for n in numbers)
        done = subprocess.run(
            [self.tool, "tokens", "--root-key", self.root_key, "--issuer", self.issuer, "--sealed-key",
             sealed.replace("\n", "")], input=lines, text=True, capture_output=True)
        if done.returncode:
            raise Failed(done.stderr.strip())
        return done.stdout.split()

    def admin_token(self, database):
        return self.tokens(database, [ADMIN], "admin", "openid config admin", "enfilade-cli")[0]

    def requests(self, name, requests):
        path = self.folder / f"{name}.requests"
        with open(path, "wb") as file:
            for one in requests:
                file.write(b"%d\n" % len(one))
                file.write(one)
        return path

    def sends(self, database, count=1_000, size=1_024, recipients=None):
        """Messages to one device each; every one that is sent has an id of its own."""
        chance = random.Random(7)
        numbers = list(range(FIRST, FIRST + count))
        recipients = recipients or list(range(FIRST, FIRST + ACCOUNTS))
        made = []
        for number, token in zip(numbers, self.tokens(database, numbers)):
            to = chance.choice(recipients)
            to = to if to != number else recipients[0] if recipients[0] != number else recipients[1]
            body = json.dumps({"id": SLOT, "recipients": [{"accountId": account(to), "deviceListVersion": 1, "envelopes": [
                {"deviceId": device(to), "keyVersion": 1,
                 "ciphertext": base64.b64encode(chance.randbytes(size)).decode()}]}]}, separators=(",", ":")).encode()
            made.append(request("POST", "/v1/messages", [("Authorization", f"Bearer {token}")], body))
        return made

    # Load

    def load(self, port, requests, **options):
        """One run of the load client; raises when an answer was not the expected one."""
        strict = options.pop("strict", True)
        command = [self.tool, "load", "--port", port, "--requests", requests]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), value]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"load client: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        if strict and (result["succeeded"] != result["sent"] or result["broken"] or result["givenUp"]):
            raise Failed(f"{result['sent']} requests were sent and {result['succeeded']} answered as they should be: "
                         f"{result['statuses']}, {result['broken']} broken, {result['unanswered']} unanswered")
        return result

    @contextlib.contextmanager
    def streams(self, port, requests, key, ready):
        streams = Streams(self, port, requests, key, ready)
        try:
            yield streams
        finally:
            streams.end()


class Server:
    """The release binary with its default settings, on a database."""

    def __init__(self, house, database):
        self.house = house
        self.database = database
        self.port = free_port()
        self.process = None
        self.seconds_to_ready = None

    def start(self):
        environment = settings(
            DATABASE_URL=self.house.url(self.database, "enfilade_app"), PUBLIC_URL=self.house.issuer,
            LISTEN=f"127.0.0.1:{self.port}", ROOT_KEY_FILE=str(self.house.root_key),
            # A few accounts ask here for what takes thousands elsewhere.
            RATE_LIMIT_PERCENT=0)
        # Written as it would be in service, and emptied so that a long run does not fill the disk.
        with open(self.house.log, "wb") as log:
            began = time.monotonic()
            self.process = subprocess.Popen([self.house.program, "serve"], env=environment, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log)
        while self.process.poll() is None and time.monotonic() - began < 30:
            if self.answers("/readyz") == 200:
                self.seconds_to_ready = time.monotonic() - began
                return
            time.sleep(0.001)
        raise Failed(f"the server did not become ready: {self.house.log.read_text()[-600:]}")

    def answers(self, path):
        try:
            return self.call("GET", path)[0]
        except OSError:
            return None

    def call(self, method, path, headers=(), body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    @property
    def pids(self):
        return [self.process.pid]

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Streams:
    """The stream client: opens all streams, then tells what came between two marks."""

    def __init__(self, house, port, requests, key, ready):
        self.errors = open(house.folder / "streams.errors", "w+")
        self.process = subprocess.Popen(
            [house.tool, "streams", "--port", str(port), "--requests", requests, "--key", key, "--ready", ready],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.opened = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise Failed(f"stream client: {self.errors.read().strip()}")
        return json.loads(line)

    def look(self, word="look"):
        """What came since the last mark."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.read()

    def mark(self):
        """The same, and from now on anew."""
        return self.look("mark")

    def end(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
