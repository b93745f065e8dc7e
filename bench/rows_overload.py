"""What a server does that is asked for more than it can give."""

import pathlib
import statistics

import plot
import rows_rest
from figures import Figure, number
from house import Failed

STEPS = (0.5, 1, 2, 4)


def overload(bench):
    figure = Figure("goodput of sends asked for at 4× capacity", "/s", "goodput at capacity", 0.9, 1.0, True)
    connections = 500 if bench.quick else 2_000
    curve = {step: [] for step in STEPS}
    house = bench.house
    capacities = []
    with rows_rest.sending(bench) as (database, server, file):
        sent = stored = 0
        statuses = {}
        for _ in bench.times():
            capacity = rows_rest.send_once(bench, server, file, sent)
            sent += capacity["sent"]
            stored += capacity["succeeded"]
            capacities.append(capacity["perSecond"])
            for step in STEPS:
                result = house.load(server.port, file, rate=capacities[-1] * step, seconds=bench.seconds, expect="201",
                                    connections=connections, first=sent + 10_000_000, strict=False)
                # Those given up were counted too, so that no id comes twice.
                sent += 10_000_000 + result["sent"] + result["givenUp"]
                stored += result["succeeded"]
                check(result)
                curve[step].append(result["goodPerSecond"])
                for status, count in result["statuses"].items():
                    statuses[status] = statuses.get(status, 0) + count
            figure.ours.append(curve[4][-1])
            figure.theirs.append(curve[1][-1])
        rows_rest.check_stored(bench, database, stored)
    figure.notes.append(
        f"capacity {number(statistics.median(capacities))}/s (64 clients, closed loop); goodput is 201 within 1 s of when a "
        "request was due: " + ", ".join(f"{step}× → {number(statistics.median(values))}/s" for step, values in curve.items())
        + f"; answers {statuses}; every 201 is in the table")
    if not bench.quick:
        path = pathlib.Path(__file__).with_name("goodput.svg")
        path.write_text(plot.goodput(statistics.median(capacities), {s: statistics.median(v) for s, v in curve.items()}))
    return [figure]


def check(result):
    wrong = {status: count for status, count in result["statuses"].items() if status not in ("201", "503", "429")}
    if wrong or result["unanswered"]:
        raise Failed(f"under overload came {wrong}, {result['unanswered']} requests got no answer")
