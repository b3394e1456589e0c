# ===- opcodes.py - opcodes that compilers write, each in an entry of its own = #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""opcodes.py VERDICT TARGET LIST: what is said of the statements of a list.

VERDICT is `accepted`: fa-ptx-emu decodes each of them for TARGET;
`unsupported`: it refuses each by name, line and column; `assembled`: ptxas takes
the file. What is otherwise is printed. The lists have a statement a line, with
registers %p of predicates, %h of 16 bits, %r of 32, %d of 64 and %q of 128.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

DECLARATIONS = (
    ".reg .pred %p<9>; .reg .b16 %h<32>; .reg .b32 %r<300>; .reg .b64 %d<32>; "
    ".reg .b128 %q<8>; .local .align 16 .b8 loc[64]; "
    ".param .align 16 .b8 tmp[64];"
)


def module(target, statements):
    """The text of a file; statement n is the fourth line of entry n."""
    lines = [".version 8.8", f".target {target}", ".address_size 64"]
    lines += [".const .align 16 .b8 cst[64];", ".func noop() { ret; }"]
    for number, statement in enumerate(statements):
        lines += [
            f".visible .entry k{number}(.param .align 64 .b8 prm[128]) {{",
            DECLARATIONS,
            "T: .branchtargets L;",
            f"L: {statement}",
            "ret; }",
        ]
    return "\n".join(lines) + "\n"


def messages(path):
    """Line of the file to (column, message of fa-ptx-emu --check)."""
    run = subprocess.run(
        ["fa-ptx-emu", str(path), "--check"], capture_output=True, text=True
    )
    if run.returncode not in (0, 2):
        sys.exit(f"fa-ptx-emu ended with {run.returncode}\n{run.stderr}")
    form = re.compile(rf"{re.escape(str(path))}:(\d+):(\d+): error: (.*)")
    return {
        int(m[1]): (int(m[2]), m[3])
        for m in map(form.match, run.stderr.splitlines())
        if m
    }


def main():
    verdict, target, source = sys.argv[1:]
    statements = Path(source).read_text().split("\n")[:-1]
    if verdict == "unsupported":
        statements = [f"{opcode};" for opcode in statements]
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "opcodes.ptx"
        path.write_text(module(target, statements))
        if verdict == "assembled":
            run = subprocess.run(
                ["ptxas", f"-arch={target}", str(path), "-o", "/dev/null"],
                capture_output=True,
                text=True,
            )
            if run.returncode:
                faults.append(run.stderr)
        else:
            said = messages(path)
            for number, statement in enumerate(statements):
                found = said.pop(5 + 5 * number + 4, None)
                name = statement.split()[0].rstrip(";")
                want = (4, f"unsupported instruction '{name}' [decoder]")
                if found != (None if verdict == "accepted" else want):
                    faults.append(f"{statement}  {found}")
            faults += [f"line {line}: {what}" for line, what in said.items()]
    print("\n".join(faults))
    print(f"{verdict}: {len(statements)} for {target}, {len(faults)} are not")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
