"""Talking to the throw-away server: one psql session, and pgbench runs."""

import json
import re
import subprocess
import time


class Server:
    def __init__(self, run):
        """`run` is the command prefix that runs a program as the server's user in its folder."""
        self.run = run
        self.psql = subprocess.Popen(
            run + ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def sql(self, statement):
        """Runs a statement, or several; returns what they output."""
        self.psql.stdin.write(statement.rstrip().rstrip(";") + ";\n\\echo ::done\n")
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line == "::done\n":
                return "".join(lines).rstrip("\n")
            lines.append(line)
        raise SystemExit(f"error: the statement failed: {statement}")

    def seconds(self, statement):
        """Wall time of a statement, its commit included."""
        start = time.monotonic()
        self.sql(statement)
        return time.monotonic() - start

    def explain(self, query, options="TIMING OFF"):
        """EXPLAIN ANALYZE of a query: it runs it in full and sends no rows."""
        return json.loads(self.sql(f"EXPLAIN (ANALYZE, FORMAT JSON, {options}) {query}"))[0]

    def wal(self):
        """How much WAL was ever written."""
        return int(self.sql("SELECT pg_current_wal_insert_lsn() - '0/0'"))

    def pgbench(self, script, clients, seconds, log=False):
        """Runs a script in so many sessions; returns its transactions a second, the share of their
        time that the sessions spent on a CPU, and each transaction's µs if `log` is set."""
        command = ["pgbench", "-n", "-f", "-", "-c", str(clients), "-j", "2" if clients > 1 else "1", "-T", str(seconds)]
        process = subprocess.Popen(
            self.run + command + (["-l"] if log else []),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        process.stdin.write(script)
        process.stdin.close()
        process.stdin = None
        time.sleep(min(0.3, seconds / 4))
        pids = self.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench'").split()
        cpu, since = self._cpu_seconds(pids), time.monotonic()
        time.sleep(max(0.1, seconds - 0.8))
        cpu, elapsed = self._cpu_seconds(pids) - cpu, time.monotonic() - since
        output = process.communicate()[0]
        found = re.search(r"^tps = ([0-9.]+) \(without", output, re.M)
        if process.returncode or not found:
            raise SystemExit(f"error: pgbench failed\n{output}")
        return float(found[1]), cpu / (elapsed * max(1, len(pids))), self._latencies() if log else []

    @staticmethod
    def _cpu_seconds(pids):
        total = 0
        for pid in pids:
            with open(f"/proc/{pid}/schedstat") as f:
                total += int(f.read().split()[0])
        return total / 1e9

    def _latencies(self):
        log = subprocess.run(self.run + ["sh", "-c", "cat pgbench_log.* && rm pgbench_log.*"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
        return [int(line.split()[2]) for line in log.splitlines()]
