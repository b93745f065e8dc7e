"""Restarts behind each proxy, while clients go on asking."""

import json
import socket
import threading
import time

import pytest
from processes import until
from test_story import following, next_of


class Crowd:
    """Clients that read and write without a pause, and remember every answer that is not as it should be."""

    def __init__(self, sender, receiver, count=3):
        self.sender, self.receiver = sender, receiver
        self.done, self.faults, self.sent = threading.Event(), [], []
        self.answered = 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(count)]

    def run(self, number):
        # A connection for each: httpx numbers the streams of one that threads share out of order.
        sender = self.sender.again()
        while not self.done.is_set():
            try:
                sender.get("/v1/session")
                if number == 0:
                    sent = sender.send(self.receiver.account, f"{len(self.sent)}")
                    self.sent.append(sent)
            except Exception as error:  # Whatever it is, the client did not get what it asked for.
                with self.lock:
                    self.faults.append(f"{type(error).__name__}: {error}"[:300])
            with self.lock:
                self.answered += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()


class Follower:
    """A stream that is opened again at its cursor whenever it ends, as clients do."""

    def __init__(self, receiver):
        self.receiver = receiver.again()
        self.ids, self.openings, self.last_id = [], 0, None
        self.done, self.fault = threading.Event(), None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.done.is_set():
                self.follow()
        except Exception as error:
            self.fault = error

    def follow(self):
        with following(self.receiver, self.last_id, read=60) as (_, events):
            self.openings += 1
            for event in events:
                self.last_id = event.id or self.last_id
                if event.event == "message":
                    self.ids.append(json.loads(event.data)["id"])
                if event.event == "goodbye" or self.done.is_set():
                    return


def asked_through_the_proxy(node, since):
    return any(entry.get("route") == "/v1/session" for entry in node.entries()[since:])


def check(crowd, follower, restarts):
    until(lambda: len(follower.ids) >= len(crowd.sent) or follower.fault, "the arrival of every message")
    follower.done.set()
    assert crowd.faults == [] and follower.fault is None
    assert follower.ids == crowd.sent
    assert crowd.answered > 0 and follower.openings > 1
    print(f"{restarts}: {crowd.answered} turns, {len(crowd.sent)} messages, 0 failed; stream opened {follower.openings} times")


def test_nodes_are_restarted_one_after_the_other_and_no_request_fails(proxy, nodes, member):
    if proxy.kind == "caddy":
        pytest.skip("Debian's Caddy cannot send a body twice; its nodes need socket units, as in the next test")
    sender, receiver = member(), member()
    follower = Follower(receiver)
    until(lambda: follower.openings, "the opening of the stream")
    with Crowd(sender, receiver) as crowd:
        for node in nodes * 2:
            assert node.stop() == 0
            since = len(node.entries())
            node.start()
            until(lambda: asked_through_the_proxy(node, since), "the proxy's return to the node")  # noqa: B023
    check(crowd, follower, f"{proxy.kind}, two nodes restarted twice")


@pytest.fixture
def lone(proxy, site, nodes, organisation):
    """A single node that was started with its socket, behind the same kind of proxy."""
    proxy.stop()
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        node = site.node("lone", listener)
        node.start()
        in_front = type(proxy)(site.folder, site.port, [node])
        organisation[0].reconnect(site.url)
        yield node
        in_front.stop()
        assert node.stop() == 0
    proxy.__init__(site.folder, site.port, nodes)
    organisation[0].reconnect(site.url)


def test_a_single_node_with_a_socket_unit_is_restarted_and_no_request_fails(proxy, lone, member):
    sender, receiver = member(), member()
    follower = Follower(receiver)
    until(lambda: follower.openings, "the opening of the stream")
    longest = 0
    with Crowd(sender, receiver) as crowd:
        for _ in range(2):
            answered = crowd.answered
            until(lambda: crowd.answered > answered + 5, "more requests")  # noqa: B023
            began = time.monotonic()
            assert lone.stop() == 0
            lone.start()
            longest = max(longest, time.monotonic() - began)
    check(crowd, follower, f"{proxy.kind}, one node with its socket restarted twice, {longest:.1f} s at most")
