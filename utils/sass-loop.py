#!/usr/bin/env python3
# ===- sass-loop.py - figures of tensor-core loops in machine code ---------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Static figures of the tensor-core loops of a kernel, without a GPU.

    sass-loop.py KERNEL.ptx --arch=sm_80   assembles it first (ptxas -v)
    sass-loop.py KERNEL.cubin
    sass-loop.py LISTING.sass              the output of cuobjdump -sass
    options: --kernel=REGEX  --json=FILE

A *main loop* is a loop with tensor-core instructions and no inner loop that
has any. Small inner loops that only poll a barrier are left out of it. All
figures are for one warp and one iteration; "per MMA" divides by the
iteration's multiply-adds over 2048, the work of one HMMA.16816, so tile size
and unrolling drop out.

The model: cycles that one warp's iteration keeps a pipe of an SM's quarter
busy. Only ratios mean something, and they rank code, they are no speeds:

    tensor  multiply-adds / rate (256 a clock on sm_80, 512 on sm_90, for f16)
    issue   1 for each instruction
    mufu    8 for each MUFU (4 lanes)
    fma     FP32 adds, multiplies, FFMAs: 2 on sm_80 (16 lanes), 1 later; IMAD 2
    alu     2 for each minimum, integer, logic, compare, select, conversion
    smem    bytes that the warp moves to or from shared memory / 32

    ovl     tensor / max(tensor, issue, mufu): the bound with perfect overlap
    pipes   tensor / max of all of them: a nearer bound
    covered share of the other instructions that are issued while a warpgroup
            MMA is in flight, and async the bound of one warp on its own code
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import cuda_tools

# Instructions by kind, from the opcode's first word; U... is the uniform path.
KINDS = {
    "fp32": "FFMA FMUL FADD FFMA2 FMUL2 FADD2 FFMA32I FMUL32I FADD32I FSWZADD FCHK",
    "minmax": "FMNMX FMNMX3",
    "convert": "F2F F2FP I2F I2FP F2I F2IP I2I FRND",
    "fp16": "HFMA2 HADD2 HMUL2 HMNMX2 HSET2 HSETP2 HADD2_32I",
    "integer": "IADD IADD3 IADD32I IADD64 IMAD IMAD32I IMUL IDP ISCADD IABS IMNMX "
    "VIADD VIMNMX VIMNMX3 VIADDMNMX VABSDIFF LEA LOP LOP3 LOP32I SHF SHL SHR PRMT "
    "POPC FLO SGXT BMSK BREV MATCH",
    "predicate": "ISETP FSETP DSETP PSETP PLOP3 CSET FSET CSETP SEL FSEL P2R R2P",
    "matrix": "LDSM STSM MOVM",
    "shared": "LDS STS ATOMS STAS LDTM STTM",
    "global": "LD LDG LDGSTS ST STG ATOM ATOMG RED REDG UBLKCP UBLKRED UBLKPF UTMALDG "
    "UTMASTG UTMAREDG UTMAPF",
    "local": "LDL STL",
    "constant": "LDC",
    "shuffle": "SHFL REDUX",
    "move": "MOV MOV32I CS2R S2R",
    "branch": "BRA BRX JMP JMX CALL RET EXIT KILL",
    "sync": "BAR SYNCS WARPSYNC WARPGROUP DEPBAR LDGDEPBAR MEMBAR FENCE ERRBAR CCTL "
    "UTMACCTL BSSY BSYNC BREAK BMOV B2R R2B VOTE VOTEU ELECT YIELD NANOSLEEP ARRIVES "
    "USETMAXREG UCGABAR_ARV UCGABAR_WAIT ACQBULK PREEXIT UTCBAR UTMACMDFLUSH",
}
KIND_OF = {op: kind for kind, ops in KINDS.items() for op in ops.split()}
ORDER = ["tensor", "ex2", "mufu", *KINDS, "uniform", "other"]

TENSOR = re.compile(r"(H|I|D|B|Q|O|HG|QG|IG|BG|UTC\w*)MMA\b")
# Moves in disguise: the compiler borrows the pipe of a multiply-add.
MOVE = re.compile(r"IMAD\.MOV|IMAD\.U32 \S+ RZ, RZ,|HFMA2\S* R\d+, -RZ, RZ,")
# f16 multiply-adds a clock and SM quarter, from the data sheets' dense rates.
RATES = {75: 128, 80: 256, 86: 128, 89: 128, 90: 512, 100: 1024}
SPIN_LENGTH = 24  # a polling loop is no longer than this


@dataclass(frozen=True)
class Instruction:
    address: int
    guard: str  # "P0", "!P3", or "" when it is always executed
    text: str  # opcode and operands

    @property
    def opcode(self):
        return self.text.split(None, 1)[0]

    @property
    def base(self):
        return self.opcode.split(".")[0]

    @property
    def is_tensor(self):
        return bool(TENSOR.match(self.base))

    @property
    def kind(self):
        if self.is_tensor:
            return "tensor"
        if self.base == "MUFU":
            return "ex2" if ".EX2" in self.opcode else "mufu"
        if MOVE.match(self.text):
            return "move"
        if self.opcode.startswith("HADD2.F32"):  # f16 to f32
            return "convert"
        if self.base in KIND_OF:
            return KIND_OF[self.base]
        return "uniform" if re.match("U|R2UR|S2UR|LDCU|CREDUX", self.base) else "other"

    def goes_to(self):
        """The address that a branch names as its last operand, or None."""
        match = re.search(r"\b0x([0-9a-f]+)\s*$", self.text)
        return int(match[1], 16) if match else None

    def multiply_adds(self):
        """For one warp, or None when the opcode does not tell."""
        if match := re.search(r"GMMA\.(?:SP\.)?(\d+)x(\d+)x(\d+)", self.opcode):
            m, n, k = map(int, match.groups())
            return m * n * k // 4  # a warpgroup is four warps
        if match := re.search(r"MMA\.(?:SP\.)?(16|8)8(\d+)\b", self.opcode):
            return int(match[1]) * 8 * int(match[2])
        return None

    def rate_factor(self):
        """Rate of this element type over that of f16."""
        if self.opcode[0] in "QI" or re.search("E4M3|E5M2", self.opcode):
            return 2
        return 0.5 if "TF32" in self.opcode else 1

    def shared_bytes(self):
        """Shared-memory bytes of one warp, bank conflicts unknown."""
        if self.base in ("LDSM", "STSM"):
            count = re.search(r"\.MT?88\.([24])", self.opcode)
            return 128 * int(count[1] if count else 1)
        if self.base in ("LDS", "STS", "LDGSTS"):
            width = re.search(r"\.[US]?(128|64|16|8)\b", self.opcode)
            return 4 * int(width[1] if width else 32)
        return 0


LINE = re.compile(
    r"\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*.*?)\s*;"
)


def parse(listing):
    """{kernel: (architecture number, [Instruction])} of cuobjdump -sass."""
    kernels, arch, body = {}, 0, None
    for line in listing.splitlines():
        if match := re.search(r"(?:arch =|code for) sm_(\d+)", line):
            arch = int(match[1])
        elif match := re.search(r"Function : (\S+)", line):
            body = []
            kernels[match[1]] = (arch, body)
        elif body is not None and (match := LINE.match(line)):
            guard = "" if match[2] in (None, "PT", "UPT") else match[2]
            body.append(Instruction(int(match[1], 16), guard, match[3]))
    return kernels


class Graph:
    """The control flow of one kernel: basic blocks and their successors."""

    ENDS = ("BRA", "JMP", "EXIT", "RET", "BRX", "JMX", "BSYNC", "KILL")
    NAMES_TARGET = ("BRA", "JMP", "BSSY", "WARPSYNC", "CALL", "BREAK")

    def __init__(self, code):
        self.blocks = self.cut(code)
        first = {block[0].address: n for n, block in enumerate(self.blocks)}
        # BSYNC Bn goes where the BSSY Bn before it said.
        joins = {}
        self.successors = []
        for number, block in enumerate(self.blocks):
            for i in block:
                if i.base == "BSSY":
                    joins[re.search(r"\bB\d+", i.text)[0]] = i.goes_to()
            last, targets = block[-1], set()
            if last.base in ("BRA", "JMP"):
                targets.add(first.get(last.goes_to()))
            elif last.base == "BSYNC":
                join = joins.get(re.search(r"\bB\d+", last.text)[0])
                targets.add(first.get(join, number + 1))
            # `BRA P0, 0x...` and `BRA.U !UP0, ...` carry a condition of their own.
            conditional = last.guard or re.match(r"BRA\S* !?U?[PR]\w*,", last.text)
            if conditional or last.base not in self.ENDS:
                targets.add(number + 1)
            valid = range(len(self.blocks))
            self.successors.append({t for t in targets if t in valid})

    def cut(self, code):
        known = {i.address for i in code}
        leaders = {code[0].address}
        for i, after in zip(code, code[1:] + [None]):
            if i.base in self.NAMES_TARGET and i.goes_to() in known:
                leaders.add(i.goes_to())
            if i.base in self.ENDS and after:
                leaders.add(after.address)
        blocks = []
        for i in code:
            if i.address in leaders:
                blocks.append([])
            blocks[-1].append(i)
        return blocks

    def code(self, numbers):
        return [i for n in sorted(numbers) for i in self.blocks[n]]


def cycles_of(nodes, successors):
    """Strongly connected components that hold a cycle (Tarjan, no recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in sorted(nodes):
        if root in index:
            continue
        work = [(root, iter(sorted(successors[root] & nodes)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for after in rest:
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    on_stack.add(after)
                    work.append((after, iter(sorted(successors[after] & nodes))))
                    break
                if after in on_stack:
                    low[node] = min(low[node], index[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while not component or node not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    if len(component) > 1 or node in successors[node]:
                        found.append(frozenset(component))
    return sorted(found, key=min)


@dataclass
class Loop:
    body: frozenset  # block numbers
    heads: frozenset  # where it is entered
    inner: list


def loops_of(nodes, successors, entry):
    """The loops nested: inside each, edges into its heads are cut and the
    search repeats. That finds irreducible loops as well."""
    found = []
    for body in cycles_of(nodes, successors):
        from_outside = {t for n in nodes - body for t in successors[n]} | entry
        heads = frozenset(from_outside & body) or frozenset({min(body)})
        cut = {n: successors[n] - heads for n in body}
        found.append(Loop(body, heads, loops_of(body, cut, frozenset())))
    return found


def main_loops(graph):
    """(blocks, polling blocks, heads) of each main loop."""

    def has_tensor(loop):
        return any(i.is_tensor for i in graph.code(loop.body))

    def polls(loop):
        code = graph.code(loop.body)
        return len(code) <= SPIN_LENGTH and any(
            i.base in ("SYNCS", "NANOSLEEP") for i in code
        )

    def visit(loops):
        for loop in loops:
            if any(has_tensor(inner) for inner in loop.inner):
                yield from visit(loop.inner)
            elif has_tensor(loop):
                inner = [one.body for one in loop.inner if polls(one)]
                spin = frozenset().union(*inner)
                yield loop.body - spin, spin, loop.heads

    every = frozenset(range(len(graph.blocks)))
    return list(visit(loops_of(every, graph.successors, frozenset({0}))))


def conditional_length(graph, body, spin, heads):
    """Instructions of blocks that some iterations jump over."""

    def on_every_path(block):
        rest = (body | spin) - {block}
        return not any(part & heads for part in cycles_of(rest, graph.successors))

    return sum(len(graph.blocks[n]) for n in body if not on_every_path(n))


def in_flight(code):
    """The non-tensor instructions issued while a warpgroup MMA runs."""
    groups, is_open, covered = 0, False, []
    for steady in (False, True):  # the first pass finds what crosses the back edge
        for i in code:
            if i.base == "HGMMA":
                is_open = "gsb0" not in i.text
                groups += not is_open
            elif i.opcode.startswith("WARPGROUP.DEPBAR"):
                groups = min(groups, int(i.text.rsplit(",", 1)[1], 16))
            elif steady and (is_open or groups):
                covered.append(i)
    return covered


def pipe_cycles(code, arch):
    """Cycles of each pipe for one pass over the instructions."""
    count = Counter(i.kind for i in code)
    imad = sum(i.base == "IMAD" and i.kind == "integer" for i in code)
    rate = RATES.get(arch, 256)
    alu = count["minmax"] + count["integer"] - imad + count["predicate"]
    return {
        "tensor": sum(
            (i.multiply_adds() or 0) / (rate * i.rate_factor())
            for i in code
            if i.is_tensor
        ),
        "issue": len(code),
        "mufu": 8 * (count["ex2"] + count["mufu"]),
        "fma": count["fp32"] * (2 if arch in (75, 80) else 1) + 2 * imad,
        "alu": 2 * (alu + count["convert"]),
        "smem": sum(i.shared_bytes() for i in code) / 32,
    }


def work(code, arch):
    """Cycles of a piece of code that has no tensor instruction."""
    pipes = pipe_cycles(code, arch)
    return max(pipes[name] for name in ("issue", "mufu", "fma", "alu"))


def figures(code, arch):
    """Counts and bounds of one iteration."""
    count = Counter(i.kind for i in code)
    tensor = [i for i in code if i.is_tensor]
    other = [i for i in code if not i.is_tensor]
    result = {
        "instructions": len(code),
        "kinds": {kind: count[kind] for kind in ORDER if count[kind]},
        "mma": dict(Counter(".".join(i.opcode.split(".")[:2]) for i in tensor)),
    }
    work_done = [i.multiply_adds() for i in tensor]
    if None in work_done:
        return result | {"non_mma_per_mma": None}
    units = sum(work_done) / 2048
    pipes = pipe_cycles(code, arch)
    t = pipes["tensor"]
    result |= {
        "mma_units": units,
        "non_mma_per_mma": len(other) / units,
        "per_mma": {k: round(n / units, 4) for k, n in result["kinds"].items()},
        "cycles": pipes,
        "bound_by": max(pipes, key=pipes.get),
        "ovl": t / max(t, pipes["issue"], pipes["mufu"]),
        "pipes": t / max(pipes.values()),
    }
    if any(i.base == "HGMMA" for i in tensor):
        covered = in_flight(code)
        hidden = set(covered)
        exposed = [i for i in other if i not in hidden]
        ex2 = sum(i.kind == "ex2" for i in covered)
        result |= {
            "covered": len(covered) / max(1, len(other)),
            "covered_ex2": ex2 / max(1, count["ex2"]),
            "async": t / (max(t, work(covered, arch)) + work(exposed, arch)),
        }
    return result


def resources(usage, log):
    """Registers, stack and spills by kernel, from cuobjdump and ptxas -v."""
    found, name = {}, ""
    pattern = r"Function (\S+?):\s*\n?\s*REG:(\d+) STACK:(\d+) SHARED:(\d+)"
    for match in re.finditer(pattern, usage):
        found[match[1]] = {
            "registers": int(match[2]),
            "stack": int(match[3]),
            "static_shared": int(match[4]),
        }
    for line in log.splitlines():
        if match := re.search(r"(?:entry function|properties for) '?([\w$]+)", line):
            name = match[1]
        row = found.setdefault(name, {})
        if match := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill", line):
            row |= {"spill_stores": int(match[1]), "spill_loads": int(match[2])}
        if match := re.search(r"Used (\d+) registers", line):
            row["registers"] = int(match[1])
        if "Potential Performance Loss" in line:
            row.setdefault("warnings", []).append(line.strip())
    return found


def analyse(listing, usage="", log="", kernel=""):
    """Every kernel whose name matches: resources and main loops."""
    used = resources(usage, log)
    report = []
    for name, (arch, code) in parse(listing).items():
        if not code or not re.search(kernel, name):
            continue
        graph, loops = Graph(code), []
        for body, spin, heads in main_loops(graph):
            loops.append(
                {
                    "at": hex(graph.blocks[min(body)][0].address),
                    "spin": len(graph.code(spin)),
                    "conditional": conditional_length(graph, body, spin, heads),
                    **figures(graph.code(body), arch),
                }
            )
        report.append(
            {
                "kernel": name,
                "arch": f"sm_{arch}",
                **used.get(name, {}),
                "instructions": len(code),
                "local_accesses": sum(i.kind == "local" for i in code),
                "loops": loops,
            }
        )
    return report


def show(report):
    """The report as a text table."""
    for kernel in report:
        print(f"{kernel['kernel']} ({kernel['arch']})")
        facts = ["registers", "stack", "spill_stores", "spill_loads", "static_shared"]
        facts += ["instructions", "local_accesses"]
        print("  " + ", ".join(f"{f} {kernel.get(f, 'n/a')}" for f in facts))
        for warning in kernel.get("warnings", []):
            print("  warning:", warning)
        for loop in kernel["loops"]:
            print(
                "  loop at {at}: {instructions} instructions, {conditional} "
                "conditional, {spin} polling, {mma}".format(**loop)
            )
            print("    " + "  ".join(f"{k} {n}" for k, n in loop["kinds"].items()))
            if loop["non_mma_per_mma"] is None:
                continue
            print("    non-MMA per MMA {non_mma_per_mma:.3f}".format(**loop), end="")
            print(", ovl {ovl:.3f}, pipes {pipes:.3f} ({bound_by})".format(**loop))
            print("    " + "  ".join(f"{k} {c:g}" for k, c in loop["cycles"].items()))
            if "async" in loop:
                print("    covered {covered:.0%}, its ex2 ".format(**loop), end="")
                print("{covered_ex2:.0%}, async {async:.3f}".format(**loop))


def read(path, arch):
    """(listing, resource usage, ptxas log) of a file of any of the three kinds."""
    log = ""
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix == ".ptx":
            cubin = Path(folder) / "kernel.cubin"
            log = cuda_tools.run("ptxas", "-v", f"-arch={arch}", path, "-o", cubin)
        elif path.suffix == ".cubin":
            cubin = path
        else:
            return path.read_text(), "", ""
        listing = cuda_tools.run("cuobjdump", "-sass", cubin)
        return listing, cuda_tools.run("cuobjdump", "-res-usage", cubin), log


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--arch", default="sm_80", help="for PTX (default: sm_80)")
    parser.add_argument("--kernel", default="", help="regular expression")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    try:
        report = analyse(*read(args.file, args.arch), args.kernel)
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except cuda_tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    show(report)
    if args.json:
        versions = {t: cuda_tools.version(t) for t in ("ptxas", "cuobjdump")}
        args.json.write_text(
            json.dumps({"tools": versions, "kernels": report}, indent=1) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
