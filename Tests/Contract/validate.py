#!/usr/bin/env python3
"""Check openapi/openapi.yaml, and the server against it.

Without options: the document is valid OpenAPI 3.0.3 and follows the house rules.
Exit status 0 when nothing is wrong, 1 when something is, 2 for wrong arguments or unreadable files.
"""

import argparse
import sys
from pathlib import Path

import exchanges
import routes
import rules
import yaml
from document import Document

DOCUMENT = Path(__file__).resolve().parents[2] / "openapi" / "openapi.yaml"
LONGEST_LIST = 100
RARE = {"406", "500", "503", "default"}


def main():
    arguments = _arguments()
    try:
        document = Document(arguments.document)
        faults = rules.check(document)
        counts = [f"{len(document.operations)} operations", f"{len(document.schemas)} schemas"]
        if arguments.routes:
            faults += routes.check(document, arguments.routes)
            counts.append("routes compared")
        if arguments.exchanges:
            faults += _exchanges(document, arguments, counts)
    except (OSError, yaml.YAMLError) as error:
        print(f"contract: {error}", file=sys.stderr)
        return 2
    for fault in faults[:LONGEST_LIST]:
        print(fault)
    if len(faults) > LONGEST_LIST:
        print(f"… and {len(faults) - LONGEST_LIST} more")
    print(f"contract: {', '.join(counts)}, {len(faults)} faults")
    return 1 if faults else 0


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", type=Path, default=DOCUMENT, help="instead of openapi/openapi.yaml")
    parser.add_argument("--routes", type=Path, metavar="FILE", help="what `enfilade routes` prints")
    parser.add_argument("--exchanges", type=Path, nargs="+", metavar="FILE", help="recorded exchanges, JSON lines")
    parser.add_argument("--coverage", action="store_true", help="list every answer that no exchange has shown")
    parser.add_argument(
        "--complete", action="store_true", help="an operation that never succeeded, or an event never seen, is a fault"
    )
    return parser.parse_args()


def _exchanges(document, arguments, counts):
    recording = exchanges.Recording(document)
    faults = [fault for path in arguments.exchanges for fault in recording.check_file(path)]
    unseen = list(recording.never_seen())
    total = sum(len(operation.spec["responses"]) for operation, _ in unseen)
    seen = total - sum(len(missing) for _, missing in unseen)
    idle = [operation for operation, _ in unseen if not _succeeded(recording, operation)]
    if arguments.coverage:
        for operation, missing in unseen:
            if set(missing) - RARE:
                print(f"never seen: {operation.name} {' '.join(sorted(set(missing) - RARE))}")
    events = recording.events_never_seen()
    if arguments.complete:
        faults += [f"{operation.route}: no exchange shows it succeed" for operation in idle]
        faults += [f"event {name}: no stream shows it" for name in events]
    elif idle or events:
        print(f"never succeeded: {' '.join([*(operation.name for operation in idle), *events])}")
    counts += [f"{recording.count} exchanges", f"{seen} of {total} answers seen"]
    return faults


def _succeeded(recording, operation):
    return any(recording.seen[operation.name, status] for status in operation.spec["responses"] if status < "4")


if __name__ == "__main__":
    sys.exit(main())
