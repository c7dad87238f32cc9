"""Takes all the samples: measure.py OUT COMMAND…, see scripts/bench.

Subjects are measured in turn, round by round, each round beginning with another one, so that what
slows the machine down meets all of them. OUT/samples.csv gets every sample, OUT/facts.json what was
measured on; benches/report.py makes the report of them.
"""

import csv
import json
import os
import platform
import re
import sys
import time

from server import Server

QUICK = os.environ.get("QUICK", "") not in ("", "0")
PEER = os.environ.get("PEER", "")
PEER_SETUP = os.environ.get("PEER_SETUP", "")
OUT, RUN = sys.argv[1], sys.argv[2:]
CORES = len(os.sched_getaffinity(0))

server = Server(RUN)
samples = []


def sample(measure, subject, variant, value):
    samples.append((measure, subject, variant, value))


def say(text):
    print(f"    {time.monotonic() - START:4.0f} s  {text}", flush=True)


def rounds(full, quick, subjects):
    """The subjects, so many times over, beginning with another one each time."""
    subjects = list(subjects)
    for turn in range(quick if QUICK else full):
        at = turn % len(subjects)
        yield from subjects[at:] + subjects[:at]


def native_uuidv7():
    return int(server.sql("SHOW server_version_num")) >= 180000


# subject: expression over bench.args, and the bare columns that it is net of
GENERATORS = {
    "next_id": ("next_id(shard)", "shard"),
    "next_id, epoch": ("next_id(shard, '2025-01-01+00')", "shard"),
    "next_id, bound schema": ("bound.next_id(shard)", "shard"),
    "snowflake_id": ("snowflake_id(datacenter, worker)", "worker"),
    "clock_timestamp": ("clock_timestamp()", "one"),
    "nextval, CACHE 1": ("nextval('bench.cache_1')", "one"),
    "nextval, CACHE 100": ("nextval('bench.cache_100')", "one"),
}
SLOW_GENERATORS = {
    "Instagram, PL/pgSQL": ("bench.instagram_plpgsql()", "one"),
    "Instagram, SQL": ("bench.instagram_sql()", "one"),
    "UUIDv4": ("gen_random_uuid()", "one"),
}
DECODERS = {
    "int8abs": ("int8abs(id)", "id"),
    "to_timestamp": ("to_timestamp(seconds)", "seconds"),
    "id_shard": ("id_shard(id)", "id"),
    "id_sequence": ("id_sequence(id)", "id"),
    "id_timestamp": ("id_timestamp(id)", "id"),
    "id_timestamp, epoch": ("id_timestamp(id, '2025-01-01+00')", "id"),
    "snowflake_timestamp": ("snowflake_timestamp(id)", "id"),
    "snowflake_worker": ("snowflake_worker(id)", "id"),
    "decode_id": ("decode_id(id)", "id"),
    "row of three": ("(to_timestamp(seconds), shard, worker)", "id"),
}


def time_per_call(table, rows, expression):
    query = f"SELECT {', '.join([expression] * 10)} FROM {table}"
    return server.explain(query)["Execution Time"] * 1e6 / (rows * 10)


def cost_per_call():
    say("cost of a call")
    fast, slow = GENERATORS | DECODERS, dict(SLOW_GENERATORS)
    if native_uuidv7():
        slow["UUIDv7"] = ("uuidv7()", "one")
    if PEER:
        slow["peer"] = (PEER, "one")
    bases = {base: (base, None) for _, base in (fast | slow).values()}
    for name, (expression, base) in rounds(51, 5, (bases | fast).items()):
        sample("loop" if base is None else "call", name, base or "", time_per_call("bench.args", 20000, expression))
    for name, (expression, base) in rounds(15, 3, slow.items()):
        sample("call", name, base, time_per_call("bench.few_args", 1000, expression))


def at_the_limit():
    say("one shard and one worker at the limit")
    # The loop without a draw is there to see what the cores allow.
    subjects = [(expression, clients) for clients in (1, 4, 16) for expression in ("next_id(5)", "snowflake_id(1, 1)", "g")]
    for expression, clients in rounds(5, 1, subjects):
        rows = 5000
        tps, cpu, _ = server.pgbench(f"SELECT count({expression}) FROM generate_series(1, {rows}) g;",
                                     clients, 1 if QUICK else 2)
        sample("limit", expression, clients, tps * rows / 1000)
        sample("limit, cpu", expression, clients, cpu)


def many_shards():
    say("many shards, 1 to 16 sessions")
    expressions = {
        "next_id": "next_id((g + :offset) % 8192)",
        "nextval, CACHE 1": "nextval('bench.cache_1')",
        "nextval, CACHE 100": "nextval('bench.cache_100')",
        "Instagram, SQL": "bench.instagram_sql()",
        "UUIDv4": "gen_random_uuid()",
    }
    if native_uuidv7():
        expressions["UUIDv7"] = "uuidv7()"
    if PEER:
        expressions["peer"] = PEER
    sessions = (1, 2, 16) if QUICK else (1, 2, 4, 8, 16)
    for name, clients in rounds(5, 1, [(n, c) for c in sessions for n in expressions]):
        rows = 5000
        script = (f"\\set offset random(0, 8191)\n"
                  f"SELECT count({expressions[name]}) FROM generate_series(1, {rows}) g;")
        sample("sessions", name, clients, server.pgbench(script, clients, 1)[0] * rows / 1000)


def blocks():
    say("blocks")
    # 900 ids fit into any millisecond, wherever its sequence starts; each of 200 shards is asked once.
    count, blocks_each = 900, 200
    queries = {
        "next_ids": f"SELECT next_ids(n, {count}) FROM generate_series(1, {blocks_each}) n",
        "generate_series": f"SELECT generate_series(1, {count}) FROM generate_series(1, {blocks_each}) n",
        "next_id": f"SELECT next_id(g % 8192) FROM generate_series(1, {count * blocks_each}) g",
        "next_id's loop": f"SELECT g % 8192 FROM generate_series(1, {count * blocks_each}) g",
    }
    for name, query in rounds(15, 3, queries.items()):
        time.sleep(0.002)
        sample("block", name, count, server.explain(query)["Execution Time"] * 1e6 / (count * blocks_each))


def wal():
    say("WAL")
    ids = 500_000 if QUICK else 3_000_000
    for name, expression in (("next_id", "next_id(5)"), ("nextval, CACHE 1", "nextval('bench.cache_1')"),
                             ("nextval, CACHE 100", "nextval('bench.cache_100')")):
        plan = server.explain(f"SELECT {expression} FROM generate_series(1, {ids})", "TIMING OFF, WAL")
        sample("wal, drawing", name, ids, plan["Plan"]["WAL Bytes"] / ids)
    server.sql("SELECT next_id(5)")
    time.sleep(17)  # within 15 s of the last change the server itself writes down what is running
    before = server.wal()
    time.sleep(2 if QUICK else 10)
    sample("wal, idle", "next_id", "", server.wal() - before)


def insert_subjects():
    subjects = {
        "bigserial": ("bigserial", ""),
        "next_id": ("bigint", "next_id(5)"),
        "snowflake_id": ("bigint", "snowflake_id(1, 1)"),
        "nextval, CACHE 100": ("bigint", "nextval('bench.cache_100')"),
        "Instagram, SQL": ("bigint", "bench.instagram_sql()"),
        "UUIDv4": ("uuid", "gen_random_uuid()"),
        "UUIDv7": ("uuid", "uuidv7()" if native_uuidv7() else "bench.uuidv7()"),
    }
    if PEER:
        subjects["peer"] = (server.sql(f"SELECT pg_typeof({PEER})"), PEER)
    return subjects


def bulk_insert():
    rows = 100_000 if QUICK else 1_000_000
    say(f"INSERT of {rows:,} rows")
    # What no generator can undercut: ids that the query brings along.
    subjects = insert_subjects() | {"no default, ids in the query": ("bigint", "")}
    # Those that come close to each other take three turns for each of the slow ones.
    slow = [name for name in subjects if name.startswith(("Instagram", "UUID"))]
    close = [name for name in subjects if name not in slow]
    for name in rounds(5, 1, close * 3 + slow):
        kind, default = subjects[name]
        columns, values = ("id, n", "g, g") if name.startswith("no default") else ("n", "g")
        default = default and f"DEFAULT {default}"
        server.sql(f"CREATE TABLE bench.rows (id {kind} PRIMARY KEY {default}, n integer)")
        server.sql("CHECKPOINT")
        before = server.wal()
        sample("insert, s", name, rows, server.seconds(
            f"INSERT INTO bench.rows ({columns}) SELECT {values} FROM generate_series(1, {rows}) g"))
        sample("insert, wal", name, rows, server.wal() - before)
        sample("insert, index", name, rows, int(server.sql("SELECT pg_relation_size('bench.rows_pkey')")))
        server.sql("DROP TABLE bench.rows")


def single_row_insert():
    say("single-row INSERT, 8 sessions")
    subjects = {name: insert_subjects()[name] for name in ("bigserial", "next_id", "UUIDv4")}
    for name, (kind, default) in subjects.items():
        table = re.sub(r"\W", "_", name)
        default = default and f"DEFAULT {default}"
        server.sql(f"CREATE TABLE bench.single_{table} (id {kind} PRIMARY KEY {default}, n integer)")
    for name in rounds(20, 1, subjects):
        table = re.sub(r"\W", "_", name)
        tps, _, latencies = server.pgbench(f"INSERT INTO bench.single_{table} (n) VALUES (1);", 8,
                                           2 if QUICK else 3, log=True)
        sample("single, tps", name, 8, tps)
        latencies.sort()
        for percent in (50, 99, 99.9, 99.99):
            sample(f"single, p{percent:g}", name, 8, latencies[int(len(latencies) * percent / 100)] / 1000)
        sample("single, max", name, 8, latencies[-1] / 1000)


def time_range():
    rows = 1_000_000 if QUICK else 10_000_000
    say(f"1 % of {rows:,} rows by time")
    server.sql(f"""CREATE UNLOGGED TABLE bench.series AS
        SELECT make_id('2026-01-01+00'::timestamptz + g * interval '10 ms', g % 8192) AS id, g AS n
          FROM generate_series(1, {rows}) g""")
    server.sql("ALTER TABLE bench.series ADD PRIMARY KEY (id)")
    server.sql("VACUUM ANALYZE bench.series")
    middle = rows // 2 * 10
    start, end = (f"'2026-01-01+00'::timestamptz + interval '{ms} ms'" for ms in (middle, middle + rows // 10))
    start, end = (server.sql(f"SELECT quote_literal({t}) || '::timestamptz'") for t in (start, end))
    low, high = (server.sql(f"SELECT id_floor({t})") for t in (start, end))
    queries = {
        "literal ids": f"id >= {low} AND id < {high}",
        "id_floor": f"id >= id_floor({start}) AND id < id_floor({end})",
        "id_timestamp": f"id_timestamp(id) >= {start} AND id_timestamp(id) < {end}",
    }
    for name, condition in rounds(15, 3, queries.items()):
        plan = server.explain(f"SELECT sum(n) FROM bench.series WHERE {condition}")
        scan = plan["Plan"]["Plans"][0]
        sample("range, ms", name, rows, plan["Execution Time"] + plan["Planning Time"])
        sample("range, estimate", name, rows, scan["Plan Rows"] / scan["Actual Rows"])
    server.sql("DROP TABLE bench.series")


def memory():
    say("memory")
    size = server.sql("SELECT allocated_size FROM pg_shmem_allocations WHERE name = 'pg_snowid'")
    if size:
        sample("memory, shared", "next_id", "", int(size))
    used = "SELECT sum(used_bytes) FROM pg_backend_memory_contexts"
    for name, call in (("next_id", "next_id(5)"), ("nextval, CACHE 1", "nextval('bench.cache_1')"),
                       ("clock_timestamp", "clock_timestamp()")):
        session = Server(RUN)
        for _ in range(2):
            session.sql("SELECT abs(1), 'bench.cache_1'::regclass")
            before = int(session.sql(used))
        session.sql(f"SELECT {call}")
        sample("memory, session", name, "", int(session.sql(used)) - before)


def facts():
    with open("/proc/cpuinfo") as f:
        model = re.search(r"^model name\s*: (.*)", f.read(), re.M)
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": CORES,
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "server": server.sql("SELECT 'PostgreSQL ' || split_part(version(), ' ', 2)"),
        "version": server.sql("SELECT version FROM snowid.status"),
        "date": time.strftime("%Y-%m-%d"),
        "quick": QUICK,
        "peer": PEER,
        "native_uuidv7": native_uuidv7(),
    }


START = time.monotonic()
server.sql("CREATE EXTENSION pg_snowid")
if PEER_SETUP:
    server.sql(PEER_SETUP)
with open(os.path.join(os.path.dirname(__file__), "competitors.sql")) as f:
    server.sql(f.read())
for part in (cost_per_call, blocks, at_the_limit, many_shards, wal, bulk_insert, single_row_insert, time_range, memory):
    part()
with open(os.path.join(OUT, "samples.csv"), "a", newline="") as f:
    csv.writer(f).writerows(samples)
with open(os.path.join(OUT, "facts.json"), "w") as f:
    json.dump(facts() | {"seconds": round(time.monotonic() - START)}, f, indent=2)
