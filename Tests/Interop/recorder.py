"""Writes down every exchange with the server, for the contract check: JSON lines in the folder ENFILADE_EXCHANGES_DIR.

It sits where both HTTP libraries hand a request to the network, and changes nothing of it.
"""

import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import requests


class Recorder:
    def __init__(self, folder, server):
        self.path = Path(folder) / "interop.jsonl"
        self.server = urlsplit(server).netloc

    def note(self, request, status, headers, body):
        parts = urlsplit(str(request.url))
        if parts.netloc != self.server:
            return
        sent = request.body if isinstance(request, requests.PreparedRequest) else request.content
        line = {
            "method": request.method,
            "path": parts.path + (f"?{parts.query}" if parts.query else ""),
            "status": status,
            "contentType": headers.get("Content-Type", ""),
            "headers": dict(headers),
            "body": body.decode(errors="replace"),
        }
        if sent:
            line["requestBody"] = sent if isinstance(sent, str) else sent.decode(errors="replace")
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class Tee(httpx.SyncByteStream):
    """A body that is written down once it was read, or left."""

    def __init__(self, stream, note):
        self.stream, self.note, self.read = stream, note, []

    def __iter__(self):
        for chunk in self.stream:
            self.read.append(chunk)
            yield chunk

    def close(self):
        self.stream.close()
        note, self.note = self.note, None
        if note:
            note(b"".join(self.read))


def install(recorder, patch):
    """Record what both libraries send and receive; `patch` is pytest's MonkeyPatch, which takes this back."""
    send, handle = requests.adapters.HTTPAdapter.send, httpx.HTTPTransport.handle_request

    def recording_send(adapter, request, *rest, **options):
        answer = send(adapter, request, *rest, **options)
        recorder.note(request, answer.status_code, answer.headers, answer.content)
        return answer

    def recording_handle(transport, request):
        answer = handle(transport, request)
        answer.stream = Tee(
            answer.stream, lambda body: recorder.note(request, answer.status_code, answer.headers, body)
        )
        return answer

    patch.setattr(requests.adapters.HTTPAdapter, "send", recording_send)
    patch.setattr(httpx.HTTPTransport, "handle_request", recording_handle)
