"""Runs the programs of docs/orms.md as a reader would, each chapter's in a database and a folder of its own,
and compares every id that they print with what the table holds.

In a chapter, in order: a block of python or javascript is written to the file that its first line names;
a block of sh is run; a block without a language shows what the sh before it prints, digits apart.

    run.py FOLDER        PGHOST and PGUSER=postgres lead to the server, PATH to the programs
"""

import os
import re
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs/orms.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
NAME = re.compile(r"(?:#|//) ([\w/.]+)\n")
ROLE = "orm_user"  # owns the databases, and is no superuser: the extension is trusted


class Failure(Exception):
    pass


def chapters():
    """The title of each chapter that has programs, and its blocks as pairs of language and text."""
    text = DOCUMENT.read_text()
    if text.count("```") != 2 * len(FENCE.findall(text)):
        raise SystemExit(f"not ok - {DOCUMENT.name}: a block isn't closed, or its fence isn't alone in its line")
    for chapter in text.split("\n## ")[1:]:
        if blocks := FENCE.findall(chapter):
            yield chapter.split("\n")[0], blocks


def psql(database, *commands):
    """Runs SQL commands as the superuser; returns the lines of their output."""
    options = [option for command in commands for option in ("-c", command)]
    run = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, *options]
    return subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def run_blocks(blocks, folder, database):
    """Writes a chapter's files and runs its commands; returns all that they print."""
    environment = os.environ | {"PGUSER": ROLE, "PGDATABASE": database, "HOME": str(folder)}
    printed = everything = ""
    for language, text in blocks:
        match language:
            case "python" | "javascript":
                name = NAME.match(text)
                if not name:
                    raise Failure(f"the first line of a block doesn't name its file:\n{text}")
                file = folder / name[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            case "sh":
                run = subprocess.run(
                    ["timeout", "120", "bash", "-euc", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                printed = run.stdout
                everything += printed
                if run.returncode:
                    raise Failure(f"{text}failed:\n{printed}")
            case "":
                if re.sub(r"\d", "0", printed.strip()) != re.sub(r"\d", "0", text.strip()):
                    raise Failure(f"the document shows\n{text}but printed was\n{printed}")
            case _:
                raise Failure(f"nothing is known about blocks of '{language}'")
    return everything


def compare(printed, database):
    """Every id printed must be one of the table's, beside its caption, and every one of these be printed."""
    rows = [line.split("|") for line in psql(database, "SELECT id, caption, id_shard(id) FROM photos")]
    captions = {id: caption for id, caption, _ in rows}
    if {shard for _, _, shard in rows} != {"5"}:
        raise Failure(f"these are not ids of next_id(5): {rows}")
    seen = set()
    for line in printed.splitlines():
        for id in re.findall(r"\d{16,}", line):
            if id not in captions or captions[id] not in line:
                raise Failure(f"printed was\n{line}\nand the table holds\n{captions}")
            seen.add(id)
    if seen != set(captions):
        raise Failure(f"not printed: {set(captions) - seen}")
    return len(seen)


def main(folder):
    psql("postgres", f"CREATE ROLE {ROLE} LOGIN")
    languages, failures = set(), 0
    for title, blocks in chapters():
        database = title.split()[0].lower()
        psql("postgres", f"CREATE DATABASE {database} OWNER {ROLE}",
             f"ALTER DATABASE {database} SET timezone = 'UTC'")
        (folder / database).mkdir(parents=True)
        try:
            ids = compare(run_blocks(blocks, folder / database, database), database)
            print(f"ok - {title}: the {ids} ids printed are exactly the {ids} of the table")
        except Failure as failure:
            print(f"not ok - {title}: {failure}")
            failures += 1
        languages |= {language for language, _ in blocks}
    if not {"python", "javascript"} <= languages:
        raise SystemExit(f"not ok - {DOCUMENT.name} has no programs in Python, or none in JavaScript")
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1]).resolve()) else 0)
