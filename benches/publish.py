"""Puts a report into docs/benchmarks.md, between its marks, and its charts beside: publish.py OUT."""

import os
import re
import shutil
import sys

OUT = sys.argv[1]
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
with open(os.path.join(OUT, "report.md")) as f:
    report = f.read().partition("\n\n")[2]
report = re.sub(r"^## ", "### ", report, flags=re.M)
report = re.sub(r"\]\((\w+\.svg)\)", r"](benchmarks/\1)", report)
page = os.path.join(DOCS, "benchmarks.md")
with open(page) as f:
    text = f.read()
text = re.sub(r"(<!-- report -->\n).*(<!-- end of the report -->)", lambda m: f"{m[1]}\n{report.strip()}\n\n{m[2]}", text, flags=re.S)
with open(page, "w") as f:
    f.write(text)
os.makedirs(os.path.join(DOCS, "benchmarks"), exist_ok=True)
for name in os.listdir(OUT):
    if name.endswith(".svg"):
        shutil.copy(os.path.join(OUT, name), os.path.join(DOCS, "benchmarks", name))
