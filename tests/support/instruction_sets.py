"""Runs scripts in separate processes, once for each instruction set and number of threads."""

import os
import subprocess
import sys

SETS = ("baseline", "avx2", "avx512")

# Printed at the end of a script: the instruction set in use, and a digest of the arrays in ``made``.
PRINT = """
import hashlib
from suffice import kernels as _kernels
digest = hashlib.sha256(b"".join(each.tobytes() for each in made)).hexdigest()
print(_kernels.instruction_set(), digest)
"""


def run_script(script, instruction_set, threads="2"):
    """The output of a script with an instruction set, or with a narrower one if the processor lacks it."""
    environment = os.environ | {"SUFFICE_INSTRUCTION_SET": instruction_set, "OMP_NUM_THREADS": threads}
    printed = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    return printed.stdout


def assert_same_bits(script, threads=("2",)):
    """Assert that the arrays ``made`` of a script have the same bits for all instruction sets and thread counts."""
    outputs = [run_script(script + PRINT, name, count).split() for name in SETS for count in threads]
    assert "baseline" in {used for used, _ in outputs}
    assert len({digest for _, digest in outputs}) == 1, outputs
