"""The row beside Matrix Synapse."""

import rows_rest
import synapse_peer
from figures import Figure, number
from house import Failed


def synapse(bench):
    figure = Figure("durable 1 KB message to one device, 64 clients", "/s", "Synapse sendToDevice", 20, 50, True)
    if "Synapse" in bench.absent:
        figure.skipped = "Synapse is absent: " + bench.absent["Synapse"]
        return [figure]
    with rows_rest.sending(bench) as (database, server, file), synapse_peer.running(bench.house) as peer:
        total = theirs = 0
        for _ in bench.pairs(figure):
            result = rows_rest.send_once(bench, server, file, total)
            total += result["sent"]
            figure.ours.append(result["perSecond"])
            answer = bench.house.load(peer.port, peer.requests, seconds=bench.seconds, first=theirs, warm_up=2)
            theirs += answer["sent"]
            figure.theirs.append(answer["perSecond"])
        rows_rest.check_stored(bench, database, total)
        stored = peer.stored()
        if stored != theirs:
            raise Failed(f"Synapse acknowledged {theirs} messages and has stored {stored}")
    figure.notes.append(f"{number(total)} and {number(theirs)} messages, all acknowledged and all stored")
    return [figure]
