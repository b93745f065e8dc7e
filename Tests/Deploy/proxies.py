"""The proxies, run with the files of deploy/ in which only ports, paths and names are other ones."""

import os
import re
import socket
from pathlib import Path

from processes import Process, free_port, until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def replaced(text, *pairs):
    """A substitution that finds nothing means that deploy/ has changed and the test has not."""
    for pattern, by in pairs:
        text, count = re.subn(pattern, by, text)
        assert count, f"nothing matches {pattern}"
    return text


class Proxy:
    """One proxy on a port of its own, in front of these nodes."""

    kind = ""
    source = ""

    def __init__(self, folder, port, nodes):
        self.folder, self.port = folder, port
        self.nodes = [f"127.0.0.1:{node.port}" for node in nodes]
        self.config = folder / f"{self.kind}-{port}.conf"
        self.config.write_text(self.derived((DEPLOY / self.source).read_text()))
        # Whoever still has the port would be tested in this proxy's place.
        until(lambda: not self.is_there(), "the end of the proxy before")
        self.process = Process(self.command(), folder / f"{self.kind}.log", env=self.environment())
        until(self.answers, f"the start of {self.kind}")

    def answers(self):
        self.process.check_alive()
        return self.is_there()

    def is_there(self):
        with socket.socket() as each:
            return each.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        # At once: how long a proxy waits for its clients is not what is tested.
        self.process.kill()

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)}


class Nginx(Proxy):
    kind, source = "nginx", "nginx/enfilade.conf"

    def derived(self, text):
        servers = "\n".join(f"    server {node} max_fails=1 fail_timeout=2s;" for node in self.nodes)
        text = replaced(
            text,
            (r"    server 127.0.0.1:8081 max_fails=1 fail_timeout=2s;\n    server 127.0.0.1:8082 .*;", servers),
            (r"    listen \[::\]:.*\n", ""),
            (r"listen 80;", f"listen 127.0.0.1:{free_port()};"),
            (r"listen 443 ssl http2;", f"listen 127.0.0.1:{self.port} ssl http2;"),
            (r"/etc/ssl/enfilade", str(self.folder)),
        )
        folders = "".join(
            f"    {name}_temp_path {self.folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;\n" if os.geteuid() == 0 else ""
        return (
            f"{user}daemon off;\nworker_processes 2;\npid {self.folder}/nginx.pid;\nerror_log stderr warn;\n"
            f"events {{ worker_connections 1024; }}\nhttp {{\n{folders}{text}}}\n"
        )

    def command(self):
        return ["nginx", "-c", str(self.config), "-e", "stderr"]


class Caddy(Proxy):
    kind, source = "caddy", "caddy/Caddyfile"

    def derived(self, text):
        return replaced(
            text,
            (r"127.0.0.1:8081 127.0.0.1:8082", " ".join(self.nodes)),
            (r"\tadmin off\n", "\tadmin off\n\tauto_https disable_redirects\n"),
            (
                r"\nenfilade.example.org \{\n",
                f"\nhttps://127.0.0.1:{self.port} {{\n\ttls {self.folder}/fullchain.pem {self.folder}/key.pem\n",
            ),
        )

    def command(self):
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(self.config)]


class HAProxy(Proxy):
    kind, source = "haproxy", "haproxy/haproxy.cfg"

    def derived(self, text):
        servers = "".join(f"    server node{number} {node}\n" for number, node in enumerate(self.nodes))
        return replaced(
            text,
            (r"    server one 127.0.0.1:8081\n    server two 127.0.0.1:8082\n", servers),
            (r"    (user|group) haproxy\n", ""),
            (r"bind :80\n", f"bind 127.0.0.1:{free_port()}\n"),
            (r"bind :443 ", f"bind 127.0.0.1:{self.port} "),
            (r"/etc/ssl/enfilade", str(self.folder)),
        )

    def command(self):
        return ["haproxy", "-db", "-f", str(self.config)]


ALL = (Nginx, Caddy, HAProxy)
