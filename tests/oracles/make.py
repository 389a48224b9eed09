"""Makes mass.json: what R's MASS says of scikit-learn's bundled tables.

Needs R with MASS (Debian: r-base-core, r-cran-mass); the tests need only the file it wrote.

    python tests/oracles/make.py
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

HERE = Path(__file__).parent


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, load in (("iris", load_iris), ("wine", load_wine), ("breast_cancer", load_breast_cancer)):
            X, y = load(return_X_y=True)
            header = ",".join([*(f"x{j:02}" for j in range(X.shape[1])), "y"])
            table = np.column_stack([X, y])
            np.savetxt(Path(folder) / f"{name}.csv", table, delimiter=",", header=header, comments="", fmt="%.17g")
        printed = subprocess.run(
            ["Rscript", str(HERE / "mass.R"), folder], check=True, capture_output=True, text=True
        ).stdout
    found = json.loads(printed)
    text = ",\n".join(f"{json.dumps(key)}: {json.dumps(found[key])}" for key in sorted(found))
    (HERE / "mass.json").write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main()
