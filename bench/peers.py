"""Competitors, taken as they are installed; none is installed here."""

import contextlib
import http.client
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import time

import proc
from house import Failed, free_port

HERE = pathlib.Path(__file__).parent / "peers"
NCHAN_MODULE = pathlib.Path("/usr/lib/nginx/modules/ngx_nchan_module.so")


def missing():
    """Who is absent, and what would bring them."""
    absent = {}
    if not shutil.which("nginx") or not NCHAN_MODULE.exists():
        absent["nchan"] = "apt-get install --no-install-recommends nginx libnginx-mod-nchan"
    if not shutil.which("cc"):
        absent["hello"] = "apt-get install --no-install-recommends gcc libmicrohttpd-dev"
    if not pathlib.Path(os.environ.get("BENCH_SYNAPSE_VENV", "/nowhere"), "bin/python").exists():
        absent["Synapse"] = ("python3 -m venv FOLDER && FOLDER/bin/pip install matrix-synapse psycopg2-binary, "
                             "then BENCH_SYNAPSE_VENV=FOLDER")
    return absent


def versions():
    found = {name: proc.package(package) for name, package in {
        "libmicrohttpd": "libmicrohttpd12", "libpq": "libpq5", "libsodium": "libsodium23", "PostgreSQL": "postgresql-15",
        "nginx": "nginx", "nchan": "libnginx-mod-nchan", "gcc": "gcc"}.items()}
    found["Swift"] = proc.said("swift", "--version").splitlines()[0] if shutil.which("swift") else ""
    python = pathlib.Path(os.environ.get("BENCH_SYNAPSE_VENV", "/nowhere"), "bin/python")
    if python.exists():
        found["Synapse"] = proc.said(str(python), "-c", "import importlib.metadata as m; print(m.version('matrix-synapse'))")
    return {name: version for name, version in found.items() if version}


def wait_for_port(port, process, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.01)
    raise Failed(f"{process.args[0]} did not listen on port {port}")


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# pgbench

def pgbench(house, database, script, clients=64, seconds=5, transactions_log=None):
    """Transactions a second, and with a log the median and 99th percentile in microseconds."""
    command = ["pgbench", "--no-vacuum", "--protocol", "prepared", "--client", str(clients), "--jobs",
               str(min(clients, 2)), "--time", str(max(1, round(seconds))), "--file", HERE / script, "-h", house.socket,
               "-U", "postgres", database]
    if transactions_log:
        command[1:1] = ["--log", "--log-prefix", transactions_log]
    done = subprocess.run(command, capture_output=True, text=True, cwd=house.folder)
    rate = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
    broken = re.search(r"number of failed transactions: ([0-9]+)", done.stdout)
    if done.returncode or not rate or (broken and int(broken[1])):
        raise Failed(f"pgbench: {done.stderr.strip()[-400:]}")
    if not transactions_log:
        return float(rate[1])
    times = sorted(int(line.split()[2]) for path in house.folder.glob(f"{transactions_log}*")
                   for line in path.read_text().splitlines())
    for path in house.folder.glob(f"{transactions_log}*"):
        path.unlink()
    return statistics.median(times), times[int(len(times) * 0.99)]


# hello

@contextlib.contextmanager
def hello(house, workers):
    program = house.folder / "hello"
    if not program.exists():
        built = subprocess.run(["cc", "-O2", "-o", program, HERE / "hello.c", "-lmicrohttpd"], capture_output=True, text=True)
        if built.returncode:
            raise Failed(f"hello.c does not compile: {built.stderr.strip()[-400:]}")
    port = free_port()
    process = subprocess.Popen([program, str(port), str(workers)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for_port(port, process)
        yield port
    finally:
        stop(process)


# nchan

class Nchan:
    def __init__(self, port, process):
        self.port = port
        self.process = process

    @property
    def pids(self):
        return [self.process.pid, *proc.children(self.process.pid)]

    def publish(self, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST", "/publish", body)
            response = connection.getresponse()
            response.read()
            if response.status not in (201, 202):
                raise Failed(f"nchan answered {response.status} to a publication")
        finally:
            connection.close()


@contextlib.contextmanager
def nchan(house, workers=2):
    folder = house.folder / "nchan"
    folder.mkdir(exist_ok=True)
    port = free_port()
    text = (HERE / "nchan.conf").read_text()
    for name, value in {"@WORKERS@": workers, "@FOLDER@": folder, "@PORT@": port}.items():
        text = text.replace(name, str(value))
    if os.geteuid() == 0:
        text = "user root;\n" + text  # the folder is not open to anybody else
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"], stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    try:
        try:
            wait_for_port(port, process)
        except Failed as fault:
            stop(process)
            raise Failed(f"{fault}: {process.stderr.read().strip()[-400:]}") from None
        yield Nchan(port, process)
    finally:
        stop(process)
        process.stderr.close()
