"""Update the figures and plots of ``docs/comparison.md``: ``python benchmarks/comparison.py [NAME ...]``.

Writes each data set as CSV to a temporary folder, runs ``suffice compare`` on it, inserts the output between the
markers of that name in the page, and copies the plot into ``docs/images``.
"""

import contextlib
import csv
import io
import re
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from suffice.cli.group import suffice
from suffice.comparison.examples import gaussian_rows, heavy_tailed_rows, poisson_rows

DOCS = Path(__file__).parent.parent / "docs"
ROWS, SEED = 2000, 1


def cancer():
    data = load_breast_cancer()
    return data.data, data.target_names[data.target], data.feature_names


def made(rows):
    X, y = rows(ROWS, SEED)
    return X, y, [f"x{j}" for j in range(X.shape[1])]


DATA = {
    "gaussian": (lambda: made(gaussian_rows), "y", "20,40,80,160,320,640,1600"),
    "heavy_tailed": (lambda: made(heavy_tailed_rows), "y", "20,40,80,160,320,640,1600"),
    "poisson": (lambda: made(poisson_rows), "y", "20,40,80,160,320,640,1600"),
    "breast_cancer": (cancer, "diagnosis", "20,40,80,160,320,455"),
}


def run(name, folder):
    make, target, sizes = DATA[name]
    X, y, names = make()
    with open(folder / f"{name}.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*names, target])
        out.writerows([*row.tolist(), label] for row, label in zip(X, y, strict=True))
    line = ["compare", f"{name}.csv", "--target", target, "--sizes", sizes, "--repeats", "20", "--plot", f"{name}.svg"]
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        suffice.main([*line, "--quiet"], prog_name="suffice", standalone_mode=False)
    (DOCS / "images" / f"compare_{name}.svg").write_bytes((folder / f"{name}.svg").read_bytes())
    return f"```text\n$ suffice {' '.join(line)}\n{printed.getvalue().strip()}\n```"


def main():
    page = DOCS / "comparison.md"
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or DATA:
            block = run(name, Path(folder))
            text = page.read_text()
            mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
            assert mark.search(text), f"{page} has no markers for {name}"
            page.write_text(mark.sub(lambda match: f"{match[1]}{block}\n{match[2]}", text))  # noqa: B023
            print(block, "\n")


if __name__ == "__main__":
    main()
