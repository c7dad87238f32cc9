"""Makes OUT/report.md and its charts from OUT/samples.csv: report.py OUT, see scripts/bench.

A figure is the median of its samples. A goal is a ratio within the run; no time alone passes or fails.
"""

import csv
import json
import os
import sys
from collections import defaultdict
from statistics import median

import charts

OUT = sys.argv[1]
with open(os.path.join(OUT, "facts.json")) as f:
    FACTS = json.load(f)
SAMPLES = defaultdict(list)
with open(os.path.join(OUT, "samples.csv"), newline="") as f:
    for row in csv.DictReader(f):
        SAMPLES[row["measure"], row["subject"], row["variant"]].append(float(row["value"]))

CORES = FACTS["cores"]
V7 = "UUIDv7" if FACTS["native_uuidv7"] else "UUIDv7, made in SQL"


def figure(measure, subject, variant=""):
    """The median of the samples, None where there are none."""
    values = SAMPLES.get((measure, subject, str(variant)))
    return median(values) if values else None


def variants(measure, subject):
    return sorted({v for m, s, v in SAMPLES if (m, s) == (measure, subject)}, key=lambda v: float(v or 0))


def subjects(measure):
    return list(dict.fromkeys(s for m, s, _ in SAMPLES if m == measure))


def net(subject):
    """ns a call, net of the loop with the same column."""
    base = next(v for m, s, v in SAMPLES if (m, s) == ("call", subject))
    calls, loops = SAMPLES["call", subject, base], SAMPLES["loop", base, ""]
    if len(calls) == len(loops):  # taken in the same rounds
        return median(call - loop for call, loop in zip(calls, loops))
    return median(calls) - median(loops)


def number(value, unit=""):
    if value is None:
        return "not measured"
    if value == 0:
        text = "0"
    elif abs(value) >= 10000:
        text = f"{value:,.0f}"
    elif abs(value) >= 100:
        text = f"{value:.0f}"
    elif abs(value) >= 1:
        text = f"{value:.1f}"
    else:
        text = f"{value:.2g}"
    return f"{text} {unit}".rstrip()


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


GOALS = []


def goal(measure, ours, against, theirs, ratio, bound, unit="", least=False, note="", excuse=""):
    """One row: our figure, the other's, their ratio, and whether it is within the bound."""
    if ratio is None:
        verdict, shown = "not measured", ""
    else:
        met = ratio >= bound if least else ratio <= bound
        verdict = "reached" if met else excuse or "**falls short**"
        shown = f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.3g}"
    other = against if theirs is None else f"{against}: {number(theirs, unit)}"
    text = f"{'at least' if least else 'at most'} {bound:.3g}{note}"
    GOALS.append([measure, number(ours, unit), other, shown, text, verdict])


def divided(a, b):
    return None if a is None or not b else a / b


def goals_of_calls():
    ours = net("next_id")
    for other, bound in (("clock_timestamp", 1.5), ("nextval, CACHE 1", 1 / 5), ("Instagram, PL/pgSQL", 1 / 100)):
        goal("`next_id`, a call", ours, other, net(other), ours / net(other), bound, "ns")
    for name, other in (("id_shard", "int8abs"), ("id_timestamp", "to_timestamp"), ("id_timestamp, epoch", "to_timestamp")):
        goal(f"`{name}`, a call", net(name), other, net(other), net(name) / net(other), 1.5, "ns")


def cpu_of_waiting(cpu, rate):
    """The share of the time that a session waits in which it takes CPU: what is left of its CPU and of
    its time without the drawing, at the cost of the loop and of a call where nothing waits."""
    drawing = rate * (figure("limit, cpu", "g", 1) / figure("limit", "g", 1) + net("next_id") / 1e6)
    return max(cpu - drawing, 0) / (1 - drawing)


def goals_of_the_limit():
    for clients in (1, 4, 16):
        rate = figure("limit", "next_id(5)", clients)
        goal(f"one shard, sessions: {clients}", rate, "the layout's", 1024, rate / 1024, 0.98, "ids/ms", least=True)
        cpu = figure("limit, cpu", "next_id(5)", clients)
        waiting = cpu_of_waiting(cpu, rate / clients)
        goal(f"CPU of these sessions while they wait: {clients}", waiting, f"drawing included: {number(cpu)}", None, waiting, 0.2)
    for clients in (1, 4, 16):
        rate, cpu = (figure(m, "snowflake_id(1, 1)", clients) for m in ("limit", "limit, cpu"))
        busy = cpu * clients > 0.9 * min(clients, CORES)
        goal(f"one worker, sessions: {clients}", rate, "the layout's", 4096, rate / 4096, 0.95, "ids/ms",
             least=True, excuse="all that the cores allow" if busy else "")


def goals_of_sessions():
    one, cores, most = (figure("sessions", "next_id", n) for n in (1, min(CORES, 16), 16))
    goal(f"many shards, sessions: {CORES}", cores, "1 session", one, divided(cores, one), 0.8 * CORES, "ids/ms", least=True)
    goal("many shards, sessions: 16", most, f"{CORES} sessions", cores, divided(most, cores), 0.8, "ids/ms", least=True)
    other = figure("sessions", "nextval, CACHE 1", 16)
    goal("many shards, sessions: 16", most, "nextval, CACHE 1", other, divided(most, other), 1, "ids/ms", least=True)


def goals_of_blocks():
    block, single = figure("block", "next_ids", 900), figure("block", "next_id", 900)
    goal("`next_ids(5, 900)`, an id, all told", block, "next_id", single, block / single, 0.5, "ns")
    draw = block - figure("block", "generate_series", 900)
    single -= figure("block", "next_id's loop", 900)
    goal("the same net of the loop", draw, "next_id", single, draw / single, 0.5, "ns")


def goals_of_wal():
    ids = variants("wal, drawing", "next_id")[0]
    ours, other = (figure("wal, drawing", s, ids) for s in ("next_id", "nextval, CACHE 1"))
    goal("WAL of drawing, an id", ours, "nextval, CACHE 1", other, divided(ours, other), 0.01 / other, "bytes", note=" (0.01 byte)")
    idle = figure("wal, idle", "next_id")
    goal("WAL when idle", idle, "none", 0, idle, 0, "bytes")


def goals_of_inserts():
    rows = variants("insert, s", "bigserial")[0]
    for measure, bound, unit, what in (("insert, s", 0.85, "s", "time"), ("insert, index", 1.01, "bytes", "index"), ("insert, wal", 1, "bytes", "WAL")):
        ours, other, least = (figure(measure, s, rows) for s in ("next_id", "bigserial", "no default, ids in the query"))
        goal(f"INSERT of {int(rows):,} rows, {what}", ours, "bigserial", other, ours / other, bound, unit,
             excuse=f"**falls short**; ids in the query: {least / other:.3g}")
    ours, other = (figure("single, tps", s, 8) for s in ("next_id", "bigserial"))
    goal("single-row INSERT, 8 sessions", ours, "bigserial", other, ours / other, 0.97, "a second", least=True, note=" (noise)")
    ours, other = (figure("single, p99.9", s, 8) for s in ("next_id", "bigserial"))
    goal("its latency, p99.9", ours, "bigserial", other, ours / other, 1.2, "ms")


def goals_of_ranges():
    rows = variants("range, ms", "literal ids")[0]
    literal = figure("range, ms", "literal ids", rows)
    for name in ("id_timestamp", "id_floor"):
        ours = figure("range, ms", name, rows)
        goal(f"1 % of {int(rows):,} rows by `{name}`", ours, "literal ids", literal, ours / literal, 1.1, "ms")
        estimate = figure("range, estimate", name, rows)
        off = max(estimate, 1 / estimate)
        goal("its estimate of rows, as a factor", off, "what came", 1, off, 1.2)


def goals_of_memory():
    shared = figure("memory, shared", "next_id")
    goal("shared memory", shared, "1 MB", 1 << 20, divided(shared, 1 << 20), 1, "bytes")
    ours, other = (figure("memory, session", s) for s in ("next_id", "nextval, CACHE 1"))
    goal("memory that a session's first call takes", ours, "nextval, CACHE 1", other, ours / other, 1.2, "bytes")


def costs():
    return sorted(((s, net(s)) for s in subjects("call")), key=lambda cost: cost[1])


def lines():
    yield f"pg_snowid {FACTS['version']}, {FACTS['server']}, {FACTS['system']}, {FACTS['cores']} cores of {FACTS['processor']}, {FACTS['date']}."
    yield f"Medians of repeats that took turns within one run of {FACTS['seconds'] // 60} min {FACTS['seconds'] % 60} s."
    if FACTS["quick"]:
        yield ""
        yield "**A quick run: it shows that measuring works. Its figures mean little.**"
    yield ""
    yield from table(["measure", "pg_snowid", "against", "ratio", "goal", ""], GOALS)
    yield "## Cost of a call"
    yield ""
    yield "![cost of a call](cost.svg)"
    yield ""
    yield from table(["call", "ns, net of the loop", "against `next_id`"],
                     [[f"`{s}`", number(ns), f"{ns / net('next_id'):.2f}"] for s, ns in costs()])
    if SAMPLES.get(("part", "draw", "")):
        yield "Of a draw, without PostgreSQL (the least ns of many short stretches):"
        yield ""
        yield from table(["part", "ns"], [[s, number(figure("part", s))] for s in subjects("part")])
    if subjects("instructions"):
        yield "Instructions a call, counted by valgrind, which leaves out what the clock's reading takes in the"
        yield "kernel's page; `id_shard` does next to nothing, so that it is what a call as such takes:"
        yield ""
        yield from table(["call", "instructions"], [[f"`{s}`", number(figure("instructions", s))] for s in subjects("instructions")])
    yield "## Sessions"
    yield ""
    yield "![ids a ms against sessions](sessions.svg)"
    yield ""
    counts = variants("sessions", "next_id")
    rows = [[f"{s}" + (", many shards" if s == "next_id" else "")] + [number(figure("sessions", s, n)) for n in counts] for s in subjects("sessions")]
    for s, name in (("next_id(5)", "next_id, one shard"), ("snowflake_id(1, 1)", "snowflake_id, one worker"), ("g", "the loop alone")):
        rows.append([name] + [number(figure("limit", s, n)) if figure("limit", s, n) else "" for n in counts])
    yield from table(["ids a ms, loop included"] + [f"sessions: {n}" for n in counts], rows)
    yield "## Inserting"
    yield ""
    yield "![time, index and WAL of an insert](insert.svg)"
    yield ""
    rows = variants("insert, s", "bigserial")[0]
    measures = ("insert, s", "insert, index", "insert, wal")
    yield from table(["default of the primary key", "s", "against bigserial", "index, MB", "against bigserial", "WAL, MB", "against bigserial"], [
        [V7 if s == "UUIDv7" else s] + [cell for m in measures for cell in (
            number(figure(m, s, rows) / (1 if m == "insert, s" else 1e6)), f"{figure(m, s, rows) / figure(m, 'bigserial', rows):.3f}")]
        for s in subjects("insert, s")])
    yield "Single rows, 8 sessions, each insert a transaction flushed to disk:"
    yield ""
    columns = ("single, tps", "single, p50", "single, p99", "single, p99.9", "single, p99.99", "single, max")
    yield from table(["default"] + ["transactions a second"] + [f"{c[8:]}, ms" for c in columns[1:]],
                     [[s] + [number(figure(c, s, 8)) for c in columns] for s in subjects("single, tps")])


for part in (goals_of_calls, goals_of_the_limit, goals_of_sessions, goals_of_blocks, goals_of_wal, goals_of_inserts, goals_of_ranges, goals_of_memory):
    part()
with open(os.path.join(OUT, "report.md"), "w") as f:
    f.write("# pg_snowid, measured\n\n" + "\n".join(lines()))
charts.cost(os.path.join(OUT, "cost.svg"), costs())
charts.sessions(os.path.join(OUT, "sessions.svg"), {
    name: [(int(n), figure(measure, subject, n)) for n in variants(measure, subject)]
    for name, measure, subject in [("next_id, many shards", "sessions", "next_id"), ("next_id, one shard", "limit", "next_id(5)"),
                                   ("snowflake_id, one worker", "limit", "snowflake_id(1, 1)")]
    + [(s, "sessions", s) for s in subjects("sessions") if s != "next_id"]})
rows = variants("insert, s", "bigserial")[0]
charts.insert(os.path.join(OUT, "insert.svg"), [V7 if s == "UUIDv7" else s for s in subjects("insert, s")], {
    what: [figure(m, s, rows) / figure(m, "bigserial", rows) for s in subjects("insert, s")]
    for what, m in (("time", "insert, s"), ("index size", "insert, index"), ("WAL", "insert, wal"))})
for row in GOALS:
    if row[-1] != "reached":
        print(f"    {row[-1].replace('*', '')}: {row[0]}: {row[1]}, {row[2]}, ratio {row[3]}, goal {row[4]}")
