"""A server under mixed load for half an hour: does it grow, and do its tables?"""

import concurrent.futures
import contextlib
import json
import statistics
import threading
import time

import proc
import rows_rest
import rows_streams
from figures import Figure, number
from house import FIRST, device, request

SAMPLE = 5  # seconds between two looks at the server's memory
ROUND = 60  # seconds; a token is good for ten minutes
TABLES = ("mailbox_item", "mailbox_ack", "mailbox", "message")


def soak(bench):
    """Rounds of a minute: sends, reads, configurations and streams that come and go; then everything is acknowledged."""
    minutes = 2 if bench.quick else 30
    size = Figure(f"resident memory in the last fifth of {minutes} minutes", "MB", "its second fifth", 1.1, 1.05, False)
    bloat = Figure("size of mailbox_item with its indexes at the end", "MB", "after the second fifth", 1.5, 1.2, False)
    house = bench.house
    with house.database() as database, house.server(database) as server:
        rounds = Rounds(bench, database, server)
        with watched(server) as samples:
            while time.monotonic() < rounds.began + minutes * 60:
                rounds.go()
        resident = [rss / 1e6 for _, rss in samples]
        size.ours.append(statistics.mean(fifth(resident, 4)))
        size.theirs.append(statistics.mean(fifth(resident, 1)))
        rounds.wait_for_sweeper()
        bloat.ours.append(rounds.sizes[-1]["mailbox_item"] / 1e6)
        bloat.theirs.append(rounds.sizes[len(rounds.sizes) * 2 // 5]["mailbox_item"] / 1e6)
        size.notes.append(
            f"{len(rounds.sizes)} rounds, {', '.join(f'{number(count)} {what}' for what, count in rounds.done.items())}, all "
            f"answered as they should be; resident by fifths of the time: "
            + ", ".join(f"{statistics.mean(fifth(resident, n)):.1f}" for n in range(5)) + " MB")
        bloat.notes.append("; ".join(rounds.tables()))
    return [size, bloat]


def fifth(samples, number):
    """One fifth of the samples, counted from 0; there is at least one."""
    start = len(samples) * number // 5
    return samples[start:max(len(samples) * (number + 1) // 5, start + 1)]


@contextlib.contextmanager
def watched(server):
    """Samples of the server's resident memory, taken while the block runs."""
    samples, over = [], threading.Event()

    def watch():
        while not over.wait(SAMPLE):
            samples.append((time.monotonic(), proc.memory(server.pids)[0]))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()
        samples.append((time.monotonic(), proc.memory(server.pids)[0]))


class Rounds:
    def __init__(self, bench, database, server):
        self.bench, self.house, self.database, self.server = bench, bench.house, database, server
        self.seconds = 15 if bench.quick else ROUND
        self.people = range(FIRST, FIRST + 1_000)
        self.streams = 500 if bench.quick else 2_000
        self.sent = 0
        self.done = {"messages": 0, "reads": 0, "streams": 0, "acknowledgements": 0, "publications": 0}
        self.sizes = []
        self.began = time.monotonic()

    def go(self):
        house, server = self.house, self.server
        tokens = house.tokens(self.database, self.people)
        sends = house.requests("soak-sends", house.sends(self.database, len(self.people), recipients=list(self.people)))
        reads = house.requests("soak-reads", [
            request("GET", path, [("Authorization", f"Bearer {token}")])
            for number, token in zip(self.people, tokens)
            for path in (f"/v1/devices/{device(number)}", "/v1/mailbox?limit=50", "/v1/config", "/v1/session")])
        with concurrent.futures.ThreadPoolExecutor() as pool:
            sending = pool.submit(house.load, server.port, sends, rate=400, seconds=self.seconds, expect="201",
                                  first=self.sent)
            reading = pool.submit(house.load, server.port, reads, rate=800, seconds=self.seconds)
            streaming = pool.submit(self.open_and_close)
            sent = sending.result()["sent"]
            self.sent += sent
            self.done["messages"] += sent
            self.done["reads"] += reading.result()["sent"]
            self.done["publications"] += streaming.result()
        self.acknowledge(tokens)
        self.look()

    def open_and_close(self):
        """Thousands of streams, twice in a round, each time with a publication to all of them; how many of those."""
        token = self.house.admin_token(self.database)
        for turn in range(2):
            with rows_streams.open_streams(self.bench, self.server, self.streams, rows_streams.MESSAGE_KEY):
                rows_rest.publish(self.house, self.server, self.database, {"turn": f"{self.sent}-{turn}"}, token)
                time.sleep(self.seconds / 4)
            self.done["streams"] += self.streams
        return 2

    def acknowledge(self, tokens):
        """Each device acknowledges all that it has got."""
        heads = dict(line.split("|") for line in self.house.psql(
            "SELECT device_id, next_seq - 1 FROM mailbox WHERE next_seq > 1", self.database).splitlines())
        requests = [
            request("POST", "/v1/mailbox/acks", [("Authorization", f"Bearer {token}")],
                    json.dumps({"through": int(heads[device(number)])}).encode())
            for number, token in zip(self.people, tokens) if device(number) in heads]
        file = self.house.requests("soak-acks", requests)
        # Enough time for every one of them once; a second time changes nothing.
        self.done["acknowledgements"] += self.house.load(self.server.port, file, seconds=2, connections=16)["sent"]

    def look(self):
        sql = " UNION ALL ".join(f"SELECT '{table}', pg_total_relation_size('{table}')" for table in TABLES)
        lines = self.house.psql(sql, self.database).splitlines()
        self.sizes.append({table: int(size) for table, size in (line.split("|") for line in lines)})

    def wait_for_sweeper(self):
        """Everything is acknowledged, so everything goes."""
        end = time.monotonic() + 60
        while self.left() and time.monotonic() < end:
            time.sleep(0.5)
        self.lag = time.monotonic() - end + 60

    def left(self):
        return int(self.house.psql("SELECT count(*) FROM mailbox_item", self.database))

    def tables(self):
        yield f"items left {self.lag:.1f} s after the last acknowledgement: {self.left()}"
        sql = f"""
            SELECT relname, n_live_tup, n_dead_tup, autovacuum_count, round(100.0 * n_tup_hot_upd / greatest(n_tup_upd, 1))
            FROM pg_stat_user_tables WHERE relname IN ({", ".join(f"'{table}'" for table in TABLES)}) ORDER BY relname"""
        for line in self.house.psql(sql, self.database).splitlines():
            table, live, dead, vacuums, hot = line.split("|")
            first, last = self.sizes[0][table] / 1e6, self.sizes[-1][table] / 1e6
            yield (f"{table}: {first:.1f} MB after the first round, {last:.1f} MB after the last, {number(int(live))} rows and "
                   f"{number(int(dead))} dead, vacuumed {vacuums} times, {hot} % of its updates HOT")
