"""What a browser and a native app's loopback listener do in a sign-in, with nothing of the server's own code."""

import threading
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urljoin

import requests

WAIT = 20


class Form(HTMLParser):
    """The one form of a page: where it goes and what it would send."""

    def __init__(self, page):
        super().__init__()
        self.action, self.method, self.fields, self.count = "", "get", {}, 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "form":
            self.count += 1
            self.action = attributes.get("action") or ""
            self.method = (attributes.get("method") or "get").lower()
        elif tag == "input" and attributes.get("name"):
            self.fields[attributes["name"]] = attributes.get("value") or ""


class Loopback:
    """A listener on a free port of the loopback address, waiting for the redirect (RFC 8252 §7.3)."""

    def __init__(self):
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                received.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.redirect_uri = f"http://127.0.0.1:{self.server.server_port}/callback"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def callback(self):
        """The whole address the browser was last sent to."""
        assert self.received, "nothing was sent to the redirect URI"
        return urljoin(self.redirect_uri, self.received[-1])

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Browser:
    """One person's browser."""

    def __init__(self):
        self.session = requests.Session()
        self.session.headers["Accept"] = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"

    def open(self, address):
        return self.session.get(str(address), timeout=WAIT)

    def submit(self, page, **typed):
        """Fill in the page's form and send it; redirects are followed to the loopback listener."""
        form = Form(page.text)
        assert form.count == 1 and form.method == "post", "a sign-in page has one form, which posts"
        assert set(typed) <= set(form.fields), f"the form asks for {sorted(form.fields)}"
        target = urljoin(page.url, form.action) if form.action else page.url.partition("?")[0]
        return self.session.post(target, data=form.fields | typed, timeout=WAIT)

    def sign_in(self, address, username, password):
        page = self.open(address)
        assert page.status_code == 200 and page.headers["Content-Type"].startswith("text/html"), page.text
        return self.submit(page, username=username, password=password)

    def close(self):
        self.session.close()
