"""The table on the terminal, results.json and results.md."""

import datetime
import json
import pathlib
import unicodedata

import peers
import proc
from figures import HEADINGS, Figure

HERE = pathlib.Path(__file__).parent


def width(text):
    return sum(2 if unicodedata.east_asian_width(letter) == "W" else 1 for letter in text)


def table(figures):
    lines = [HEADINGS, *(figure.cells() for figure in figures)]
    widths = [max(width(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(cell + " " * (size - width(cell)) for cell, size in zip(line, widths)).rstrip() for line in lines)


def document(bench, command):
    """Everything about this run, as JSON."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "command": command,
        "isOnlyALook": bench.quick,
        "seconds": bench.seconds,
        "runs": bench.runs,
        "machine": bench.machine,
        "versions": peers.versions(),
        "postgresql": bench.postgres_settings,
        "absent": bench.absent,
    }


def commit():
    name = proc.said("git", "-C", str(HERE), "rev-parse", "--short=12", "HEAD") or "unknown"
    dirty = proc.said("git", "-C", str(HERE), "status", "--porcelain", "--", "../Sources", "../migrations", "../Package.swift")
    return name + (" with changes" if dirty else "")


def keep(run, results):
    """Puts measured rows into results.json beside those of earlier runs, and writes results.md from all of them."""
    path = HERE / "results.json"
    known = json.loads(path.read_text())["rows"] if path.exists() else {}
    for name, figures in results.items():
        known[name] = {"run": run, "figures": [figure.record() for figure in figures]}
    path.write_text(json.dumps({"rows": known}, indent=1, ensure_ascii=False) + "\n")
    (HERE / "results.md").write_text(markdown(known))


def markdown(rows):
    import rows as registry
    ordered = [(name, rows[name]) for name in registry.ROWS if name in rows]
    newest = max((row["run"] for _, row in ordered), key=lambda run: run["date"])
    lines = ["# Results of bin/bench", "",
             "Written by `bin/bench`; how each row is measured, and what is unfair to whom, is in [README.md](README.md).",
             "Medians of the runs; the ratio is the median of the ratios of neighbouring runs, min–max their spread. Trust",
             "ratios, not values.", ""]
    lines += ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    notes = []
    for name, row in ordered:
        for record in row["figures"]:
            figure = Figure(**{key: value for key, value in record.items() if key not in ("ratio", "verdict")})
            lines.append("| " + " | ".join(figure.cells()) + " |")
            title = figure.name + (f" ({figure.peer})" if figure.peer else "")
            if figure.skipped:
                notes.append(f"- **{title}**: skipped, {figure.skipped}.")
            notes += [f"- **{title}**: {note}." for note in figure.notes]
    lines += ["", "![Goodput by offered load](goodput.svg)", ""] if (HERE / "goodput.svg").exists() else [""]
    lines += ["## What was seen beside", "", *notes, "", "## When and how", ""]
    lines += ["| row | date | commit | runs × seconds | command |", "|---|---|---|---|---|"]
    for name, row in ordered:
        run = row["run"]
        lines.append(f"| `{name}` | {run['date']} | {run['commit']} | {run['runs']} × {run['seconds']} | `{run['command']}` |")
    lines += ["", "## Where (of the newest run)", ""]
    lines += [f"- {name}: {value}" for name, value in {**newest["machine"], **newest["versions"]}.items()]
    lines += ["- PostgreSQL settings: " + newest["postgresql"], ""]
    lines += [f"Absent: {name}; to have it: `{how}`." for name, how in newest["absent"].items()]
    return "\n".join(lines).rstrip() + "\n"
