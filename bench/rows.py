"""Every row of the table by name, in the table's order."""

import rows_overload
import rows_peers
import rows_rest
import rows_soak
import rows_streams

ROWS = {
    "read": (rows_rest.read, "authenticated single-row read beside pgbench"),
    "send": (rows_rest.send, "durable 1 KB message beside pgbench's insert of the same row"),
    "synapse": (rows_peers.synapse, "durable 1 KB message beside Matrix Synapse's sendToDevice"),
    "streams-cpu": (rows_streams.streams_cpu, "CPU per delivered event beside nchan"),
    "streams-memory": (rows_streams.streams_memory, "memory per idle stream beside nchan"),
    "streams-rest": (rows_streams.streams_rest, "REST requests beside thousands of idle streams"),
    "config": (rows_rest.config_304, "configuration that has not changed beside a C “hello”"),
    "delivery": (rows_streams.delivery, "from send to event stream beside one commit"),
    "page": (rows_rest.page, "a mailbox page among ten million items"),
    "start": (rows_rest.start, "start to ready, memory at rest"),
    "overload": (rows_overload.overload, "goodput at half to four times the capacity"),
    "soak": (rows_soak.soak, "half an hour of mixed load: memory and tables (only when it is named)"),
}

# Longer than all others together.
ONLY_NAMED = {"soak"}
