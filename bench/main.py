"""Runs rows and tells what they gave. Called by bin/bench, which built everything and started PostgreSQL."""

import argparse
import json
import os
import pathlib
import resource
import shlex
import signal
import sys
import time

import peers
import proc
import report
import rows
from house import Failed, House


class Bench:
    def __init__(self, arguments, house):
        self.house = house
        self.quick = arguments.quick
        self.runs = arguments.runs or (1 if arguments.quick else 5)
        self.seconds = 1.5 if arguments.quick else 8
        self.absent = peers.missing()
        self.machine = proc.machine()
        self.postgres_settings = house.psql(
            "SELECT string_agg(name || '=' || current_setting(name), ', ' ORDER BY name) FROM pg_settings WHERE name IN "
            "('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'wal_sync_method', "
            "'data_checksums', 'max_connections', 'server_version')")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.most_streams = min(9_000, hard - 1_000)

    def times(self):
        for turn in range(self.runs):
            self.tell(f"run {turn + 1} of {self.runs}")
            yield turn

    def pairs(self, figure):
        """Ours and the peer's by turns; each turn gives both a sample, or one gives the row up."""
        for turn in self.times():
            yield turn
            if len(figure.ours) != turn + 1 or len(figure.theirs) != turn + 1:
                raise Failed("a run gave no sample")

    def tell(self, words):
        print(f"    {words}", flush=True)


def main():
    arguments = read_arguments()
    if arguments.quick:
        print(WARNING, flush=True)
    bench = Bench(arguments, House(arguments.folder, arguments.socket, pathlib.Path(__file__).resolve().parent.parent))
    for name, how in bench.absent.items():
        print(f"absent: {name} ({how})")
    command = shlex.join(["bin/bench", *arguments.words])
    results, failed = {}, []
    for name in arguments.rows or [name for name in rows.ROWS if name not in rows.ONLY_NAMED]:
        run, what = rows.ROWS[name]
        print(f"==> {name}: {what}", flush=True)
        began = time.monotonic()
        try:
            results[name] = run(bench)
        except Failed as reason:
            failed.append(name)
            print(f"FAILED {name}: {reason}", flush=True)
            continue
        for figure in results[name]:
            for note in ([f"skipped: {figure.skipped}"] if figure.skipped else figure.notes):
                bench.tell(note)
        bench.tell(f"{time.monotonic() - began:.0f} s")
    tell_results(bench, arguments, command, results)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


def tell_results(bench, arguments, command, results):
    run = report.document(bench, command)
    print("\n" + report.table([figure for figures in results.values() for figure in figures]))
    if arguments.json:
        rows_of_run = {name: [figure.record() for figure in figures] for name, figures in results.items()}
        pathlib.Path(arguments.json).write_text(json.dumps(run | {"rows": rows_of_run}, indent=1, ensure_ascii=False) + "\n")
    if arguments.quick:
        print("\n" + WARNING)
    elif results:
        report.keep(run, results)
        print("\nwritten: bench/results.md, bench/results.json")


WARNING = """*** Only a look: one short run of everything, smaller numbers of streams and rows. Not a result; nothing is kept. ***"""


def read_arguments():
    parser = argparse.ArgumentParser(prog="bin/bench")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--socket", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--json")
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    arguments.words = [word for word in sys.argv[1:] if not word.startswith(("--folder=", "--socket="))]
    return arguments


if __name__ == "__main__":
    # A shell starts what it does not wait for with the signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
