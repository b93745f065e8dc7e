"""Rows about requests and answers."""

import contextlib
import json
import random
import time

import peers
import proc
from figures import Figure, number
from house import ACCOUNTS, FIRST, Failed, account, device, request

WORKERS = 16  # the server's default


def read(bench):
    figure = Figure("authenticated single-row read, 64 clients", "/s", "pgbench -M prepared", 0.5, 0.8, True)
    house = bench.house
    with house.database() as database, house.server(database) as server:
        numbers = random.Random(1).sample(range(FIRST, FIRST + ACCOUNTS), 2_000)
        tokens = house.tokens(database, numbers)
        one = server.call("GET", f"/v1/devices/{device(numbers[0])}", {"Authorization": f"Bearer {tokens[0]}"}.items())
        if one[0] != 200 or json.loads(one[2])["id"] != device(numbers[0]):
            raise Failed(f"the device was answered with {one[0]}: {one[2][:200]}")
        file = house.requests("read", [request("GET", f"/v1/devices/{device(n)}", [("Authorization", f"Bearer {token}")])
                                       for n, token in zip(numbers, tokens)])
        sent = 0
        for _ in bench.pairs(figure):
            before = proc.cpu_seconds(server.pids)
            result = house.load(server.port, file, seconds=bench.seconds)
            spent = proc.cpu_seconds(server.pids) - before
            sent += result["sent"]
            figure.ours.append(result["perSecond"])
            figure.theirs.append(peers.pgbench(house, database, "read.sql", seconds=bench.seconds))
        figure.notes.append(f"{number(sent)} requests, all answered 200; last run: p50 {result['latency']['p50']} µs, p99 "
                            f"{result['latency']['p99']} µs, {spent / result['sent'] * 1e6:.0f} µs of the server's CPU each")
    return [figure]


@contextlib.contextmanager
def sending(bench):
    """A server, and requests that send 1 KB each to one device."""
    house = bench.house
    with house.database() as database, house.server(database) as server:
        yield database, server, house.requests("sends", house.sends(database))


def send_once(bench, server, file, first):
    """A run of sends by 64 clients; numbers go on from run to run, so that no id comes twice."""
    return bench.house.load(server.port, file, seconds=bench.seconds, expect="201", first=first)


def check_stored(bench, database, succeeded):
    stored = int(bench.house.psql("SELECT count(*) FROM mailbox_item", database))
    if stored != succeeded:
        raise Failed(f"{succeeded} messages were acknowledged and {stored} are stored")


def send(bench):
    figure = Figure("durable 1 KB message to one device, 64 clients", "/s", "pgbench insert of the same row", 1.5, 3, True)
    with sending(bench) as (database, server, file):
        bench.house.psql("CREATE TABLE bench_item (LIKE mailbox_item INCLUDING ALL);", database)
        total = 0
        for _ in bench.pairs(figure):
            result = send_once(bench, server, file, total)
            total += result["sent"]
            figure.ours.append(result["perSecond"])
            figure.theirs.append(peers.pgbench(bench.house, database, "insert.sql", seconds=bench.seconds))
        check_stored(bench, database, total)
        figure.notes.append(f"{number(total)} messages, all answered 201 and all in the table; last run: p50 "
                            f"{result['latency']['p50']} µs, p99 {result['latency']['p99']} µs")
    return [figure]


def config_304(bench):
    figure = Figure("GET /v1/config answered 304, 64 clients", "/s", "libmicrohttpd “hello” in C", 0.5, 0.9, True)
    if "hello" in bench.absent:
        figure.skipped = "there is no C compiler: " + bench.absent["hello"]
        return [figure]
    house = bench.house
    with house.database() as database, house.server(database) as server, peers.hello(house, WORKERS) as hello:
        publish(house, server, database, {"probe": "1"})
        numbers = range(FIRST, FIRST + 2_000)
        tokens = house.tokens(database, numbers)
        status, headers, _ = server.call("GET", "/v1/config", {"Authorization": f"Bearer {tokens[0]}"}.items())
        if status != 200:
            raise Failed(f"the configuration was answered with {status}")
        ours = house.requests("config", [request("GET", "/v1/config", [
            ("Authorization", f"Bearer {token}"), ("If-None-Match", headers["ETag"])]) for token in tokens])
        theirs = house.requests("hello", [request("GET", "/")])
        sent = 0
        for _ in bench.pairs(figure):
            result = house.load(server.port, ours, seconds=bench.seconds, expect="304")
            sent += result["sent"]
            figure.ours.append(result["perSecond"])
            figure.theirs.append(house.load(hello, theirs, seconds=bench.seconds)["perSecond"])
        figure.notes.append(f"{number(sent)} requests, all answered 304")
    return [figure]


def publish(house, server, database, values, token=None, etag=None):
    """Publishes the app's configuration; the tag to publish the next with."""
    token = token or house.admin_token(database)
    authorization = ("Authorization", f"Bearer {token}")
    if etag is None:
        etag = server.call("GET", "/v1/apps/bench/config", [authorization])[1]["ETag"]
    body = json.dumps({"values": values, "reason": "bench"})
    status, headers, answer = server.call(
        "PUT", "/v1/apps/bench/config", [authorization, ("If-Match", etag), ("Content-Type", "application/json")], body)
    if status not in (200, 201):
        raise Failed(f"publishing was answered with {status}: {answer[:200]}")
    return headers["ETag"]


# Mailbox pages

PAGE_MAILBOXES = 100
PAGE_ITEMS = 100


def fill_mailboxes(house, database, mailboxes):
    """Items as time would have laid them down: the mailboxes' first items, then their second ones, and so on."""
    house.psql(f"""
        ALTER TABLE mailbox_item DROP CONSTRAINT mailbox_item_pkey;
        DROP INDEX mailbox_item_keep_until_idx;
        CREATE TEMPORARY TABLE place AS
        SELECT m, CASE WHEN m % {mailboxes // PAGE_MAILBOXES} = 0
                       THEN ('0b000000-0000-7000-8000-000000' || {FIRST} + m / {mailboxes // PAGE_MAILBOXES})::uuid
                       ELSE gen_random_uuid() END AS id
        FROM generate_series(0, {mailboxes - 1}) AS m;
        INSERT INTO mailbox (id, account_id, device_id, app_id, next_seq, created_at)
        SELECT id, gen_random_uuid(), gen_random_uuid(), 'bench', {PAGE_ITEMS + 1}, now() FROM place
        ON CONFLICT (id) DO UPDATE SET next_seq = excluded.next_seq;
        INSERT INTO mailbox_ack (mailbox_id) SELECT id FROM place ON CONFLICT DO NOTHING;
        INSERT INTO mailbox_item (mailbox_id, seq, message_id, kind, sender_account, sender_device, sent_at, keep_until,
                                  ciphertext)
        SELECT place.id, seq, ('0e000000-0000-7000-' || lpad(to_hex(seq), 4, '0') || '-' || lpad(to_hex(place.m), 12, '0'))::uuid,
               'message', '{account(FIRST)}', '{device(FIRST)}', now(), now() + interval '29 days',
               sha256(int8send(place.m))
        FROM generate_series(1, {PAGE_ITEMS}) AS seq CROSS JOIN place
        ORDER BY seq;
        ALTER TABLE mailbox_item ADD CONSTRAINT mailbox_item_pkey PRIMARY KEY (mailbox_id, seq);
        CREATE INDEX mailbox_item_keep_until_idx ON mailbox_item (keep_until);
        """, database)
    house.psql("VACUUM ANALYZE;", database)
    house.psql("CHECKPOINT;", database)


def page(bench):
    large = 1_000_000 if bench.quick else 10_000_000
    small = PAGE_MAILBOXES * PAGE_ITEMS
    figure = Figure(f"mailbox page of 50 with {number(large)} items stored, 16 clients", "µs median",
                    f"the same with {number(small)} items", 1.3, 1.05, False)
    house = bench.house
    with house.database() as many, house.database() as few:
        for database, count in ((many, large), (few, small)):
            bench.tell(f"laying down {number(count)} items")
            fill_mailboxes(house, database, count // PAGE_ITEMS)
        with house.server(many) as crowded, house.server(few) as quiet:
            files = {server: house.requests(server.database, pages(house, server)) for server in (crowded, quiet)}
            sent = 0
            for _ in bench.pairs(figure):
                for server, samples in ((crowded, figure.ours), (quiet, figure.theirs)):
                    result = house.load(server.port, files[server], seconds=bench.seconds, connections=16)
                    sent += result["sent"]
                    samples.append(result["latency"]["p50"])
        size = house.psql("SELECT pg_size_pretty(pg_total_relation_size('mailbox_item'))", many)
    figure.notes.append(f"{number(sent)} pages of 50 from {PAGE_MAILBOXES} mailboxes, spread over a table of {size}")
    return [figure]


def pages(house, server):
    numbers = range(FIRST, FIRST + PAGE_MAILBOXES)
    tokens = house.tokens(server.database, numbers)
    for token in (tokens[0], tokens[-1]):
        status, _, body = server.call("GET", "/v1/mailbox?limit=50", {"Authorization": f"Bearer {token}"}.items())
        if status != 200 or [item["seq"] for item in json.loads(body)["items"]] != list(range(1, 51)):
            raise Failed(f"a page was answered with {status} and not with items 1 to 50: {body[:300]}")
    return [request("GET", f"/v1/mailbox?limit=50&after={25 * step}", [("Authorization", f"Bearer {token}")])
            for step in range(3) for token in tokens]


# Starting

def start(bench):
    ready = Figure("start to ready", "s", "", 1, 0.3, False)
    idle = Figure("idle resident memory", "MB", "", 60, 30, False)
    house = bench.house
    with house.database() as database:
        for _ in bench.times():
            with house.server(database) as server:
                ready.ours.append(server.seconds_to_ready)
                time.sleep(1 if bench.quick else 3)
                rss, pss = proc.memory(server.pids)
                idle.ours.append(rss / 1e6)
    idle.notes.append(f"proportional size in the last run: {pss / 1e6:.1f} MB")
    return [ready, idle]
