"""Rows about event streams."""

import contextlib
import json
import time

import peers
import proc
import rows_rest
from figures import Figure, number
from house import FIRST, Failed, device, request

MESSAGE_KEY = '"id":"'
PROBE_KEY = '"probe":"'


def stream_requests(house, database, count):
    """One stream for each device."""
    numbers = range(FIRST, FIRST + count)
    return house.requests("streams", [
        request("GET", "/v1/events", [("Authorization", f"Bearer {token}"), ("Accept", "text/event-stream")])
        for token in house.tokens(database, numbers)])


@contextlib.contextmanager
def open_streams(bench, server, count, key):
    file = stream_requests(bench.house, server.database, count)
    with bench.house.streams(server.port, file, key, "event: ready") as streams:
        check_open(streams.opened, count)
        yield streams


@contextlib.contextmanager
def nchan_streams(bench, nchan, count):
    file = bench.house.requests("subscribers", [
        request("GET", "/events", [("Accept", "text/event-stream")]) for _ in range(count)])
    with bench.house.streams(nchan.port, file, PROBE_KEY, "200 OK") as streams:
        check_open(streams.opened, count)
        yield streams


def check_open(told, count):
    if told["open"] != count or told["ended"]:
        raise Failed(f"{told['open']} of {count} streams are open, {told['ended']} ended")


def settle(streams, expected, seconds=20):
    """What came since the last mark, when all of it has come or time is up."""
    end = time.monotonic() + seconds
    while streams.look()["delivered"] < expected and time.monotonic() < end:
        time.sleep(0.1)
    total = streams.mark()
    if total["delivered"] != expected or total["duplicates"] or total["ended"]:
        raise Failed(f"{total['delivered']} of {expected} events arrived, {total['duplicates']} twice, "
                     f"{total['ended']} streams ended")
    return total


# CPU per delivered event

def probe(number):
    """A value that carries when it was sent and which one it is, as the load client's slots do."""
    text = f"{time.monotonic_ns():016x}{number:016x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])) + "." * 164


def fan_out(streams, pids, publish, count, publications, pace=0.25):
    """CPU in microseconds for each of publications × count deliveries; publishing is done by `publish(number)`.

    The next publication waits until everybody has the last: a stream of ours that is behind gets one combined step.
    """
    publish(0)
    settle(streams, count)
    before = proc.cpu_seconds(pids)
    began = time.monotonic()
    for turn in range(publications):
        time.sleep(max(0, began + turn * pace - time.monotonic()))
        publish(turn + 1)
        patience = time.monotonic() + 20
        while streams.look()["delivered"] < count * (turn + 1) and time.monotonic() < patience:
            time.sleep(0.01)
    told = settle(streams, count * publications)
    return (proc.cpu_seconds(pids) - before) / (count * publications) * 1e6, told


def streams_cpu(bench):
    count, publications = (500, 8) if bench.quick else (5_000, 40)
    figure = Figure(f"CPU per event delivered to {number(count)} streams", "µs", "nchan", 1.0, 0.7, False)
    if "nchan" in bench.absent:
        figure.skipped = "nchan is absent: " + bench.absent["nchan"]
        return [figure]
    house = bench.house
    last = {}
    for _ in bench.pairs(figure):
        with house.database() as database, house.server(database) as server:
            token = house.admin_token(database)
            tag = rows_rest.publish(house, server, database, {"probe": "none"}, token)

            def publish_ours(turn):
                nonlocal tag
                tag = rows_rest.publish(house, server, database, {"probe": probe(turn)}, token, tag)

            with open_streams(bench, server, count, PROBE_KEY) as streams:
                spent, last["ours"] = fan_out(streams, server.pids, publish_ours, count, publications)
                figure.ours.append(spent)
        with peers.nchan(house) as nchan:

            def publish_theirs(turn):
                value = json.dumps({"from": turn, "revision": turn + 1, "set": {"probe": probe(turn)}}, separators=(",", ":"))
                nchan.publish(value)

            with nchan_streams(bench, nchan, count) as streams:
                spent, last["theirs"] = fan_out(streams, nchan.pids, publish_theirs, count, publications)
                figure.theirs.append(spent)
    figure.notes.append(
        f"{publications} publications a run, each delivered exactly once to every stream; publish to delivery in the last "
        + "; ".join(f"run of {who}: p50 {last[of]['latency']['p50'] / 1000:.1f} ms, p99 {last[of]['latency']['p99'] / 1000:.1f} ms"
                    for of, who in (("ours", "ours"), ("theirs", "nchan"))))
    return [figure]


# Memory per idle stream

def per_stream(open_them, pids, count):
    """Bytes of the processes (proportional) and of the kernel for each stream that opens."""
    before, kernel = proc.memory(pids())[1], proc.socket_memory()
    with open_them():
        time.sleep(2)
        return (proc.memory(pids())[1] - before) / count, (proc.socket_memory() - kernel) / count


def streams_memory(bench):
    count = 1_000 if bench.quick else bench.most_streams
    figure = Figure(f"resident memory per idle stream, {number(count)} streams", "KB", "nchan", 0.6, 0.4, False)
    if "nchan" in bench.absent:
        figure.skipped = "nchan is absent: " + bench.absent["nchan"]
        return [figure]
    house = bench.house
    for _ in bench.pairs(figure):
        with house.database() as database, house.server(database) as server:
            ours, kernel = per_stream(lambda: open_streams(bench, server, count, MESSAGE_KEY), lambda: server.pids, count)
        with peers.nchan(house) as nchan:
            theirs, their_kernel = per_stream(lambda: nchan_streams(bench, nchan, count), lambda: nchan.pids, count)
        figure.ours.append(ours / 1000)
        figure.theirs.append(theirs / 1000)
    figure.notes.append(f"kernel's TCP memory per stream in the last run: ours {kernel / 1000:.1f} KB, nchan "
                        f"{their_kernel / 1000:.1f} KB (both ends)")
    return [figure]


# REST beside idle streams

def streams_rest(bench):
    count = 1_000 if bench.quick else bench.most_streams
    figure = Figure(f"REST requests with {number(count)} idle streams open, 64 clients", "/s", "without any stream", 0.9, 1.0,
                    True)
    house = bench.house
    with house.database() as database, house.server(database) as server:
        numbers = range(FIRST, FIRST + 2_000)
        file = house.requests("rest", [
            request("GET", f"/v1/devices/{device(n)}", [("Authorization", f"Bearer {token}")])
            for n, token in zip(numbers, house.tokens(database, numbers))])
        for _ in bench.pairs(figure):
            figure.theirs.append(house.load(server.port, file, seconds=bench.seconds)["perSecond"])
            with open_streams(bench, server, count, MESSAGE_KEY) as streams:
                time.sleep(1)
                figure.ours.append(house.load(server.port, file, seconds=bench.seconds)["perSecond"])
                check_open(streams.mark(), count)
            wait_until_closed(server)
    return [figure]


def wait_until_closed(server, most=200):
    """Until the server has let go of the streams' sockets."""
    import os
    end = time.monotonic() + 20
    while len(os.listdir(f"/proc/{server.process.pid}/fd")) > most:
        if time.monotonic() > end:
            raise Failed("the server still holds streams whose clients have gone for 20 s")
        time.sleep(0.1)


# Delivery

def delivery(bench):
    count, rate = (500, 200) if bench.quick else (5_000, 1_000)
    what = f"send → SSE delivery, {number(rate)} msg/s, {number(count)} streams, "
    middle = Figure(what + "p50", "ms", "one commit, p50", 3, 1.5, False)
    tail = Figure(what + "p99", "ms", "one commit, p99", 10, 5, False)
    house = bench.house
    with house.database() as database, house.server(database) as server:
        house.psql("CREATE TABLE bench_item (LIKE mailbox_item INCLUDING ALL);", database)
        first = 0
        for _ in bench.pairs(middle):
            # Streams and senders' tokens are made anew: tokens live ten minutes.
            file = house.requests("sends", house.sends(database, recipients=list(range(FIRST, FIRST + count))))
            commit = peers.pgbench(house, database, "insert.sql", clients=1, seconds=bench.seconds, transactions_log="commit")
            with open_streams(bench, server, count, MESSAGE_KEY) as streams:
                warm = house.load(server.port, file, rate=rate, seconds=1, expect="201", first=first, connections=256,
                                  warm_up=0, deadline_ms=10_000)
                first += warm["sent"]
                settle(streams, warm["succeeded"])
                result = house.load(server.port, file, rate=rate, seconds=bench.seconds, expect="201", first=first,
                                    connections=256, warm_up=0, deadline_ms=10_000)
                first += result["sent"]
                told = settle(streams, result["succeeded"])
            for figure, ours, theirs in ((middle, "p50", commit[0]), (tail, "p99", commit[1])):
                figure.ours.append(told["latency"][ours] / 1000)
                figure.theirs.append(theirs / 1000)
            wait_until_closed(server)
    middle.notes.append(f"{number(result['sent'])} messages in the last run, each delivered exactly once; "
                        f"sends answered with p50 {result['latency']['p50'] / 1000:.1f} ms, p99 "
                        f"{result['latency']['p99'] / 1000:.1f} ms")
    return [middle, tail]
