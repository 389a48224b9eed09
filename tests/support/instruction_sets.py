"""Scripts that are run once for each instruction set, and for several numbers of threads, in a process of their own."""

import os
import subprocess
import sys

SETS = ("baseline", "avx2", "avx512")

# What a script prints at its end: the set that was used, and all bits of the arrays that it has made.
PRINT = """
import hashlib
from suffice import kernels as _kernels
digest = hashlib.sha256(b"".join(each.tobytes() for each in made)).hexdigest()
print(_kernels.instruction_set(), digest)
"""


def run_script(script, instruction_set, threads="2"):
    """What a script prints with an instruction set, or a narrower one where the processor lacks it."""
    environment = os.environ | {"SUFFICE_INSTRUCTION_SET": instruction_set, "OMP_NUM_THREADS": threads}
    printed = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    return printed.stdout


def assert_same_bits(script, threads=("2",)):
    """The arrays that a script calls ``made`` have the same bits in every instruction set and number of threads."""
    found = [run_script(script + PRINT, name, count).split() for name in SETS for count in threads]
    assert "baseline" in {used for used, _ in found}
    assert len({digest for _, digest in found}) == 1, found
