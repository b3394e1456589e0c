"""check-symbols.py SYMBOLS HEADER: the names that a library shows and those
that its header declares between the lines `cffi: begin` and `cffi: end` are the
same, and no preprocessor is needed there."""

import re
import sys
from pathlib import Path

shown = set()
for name in Path(sys.argv[1]).read_text().split():
    name, _, version = name.partition("@@")
    if name == "FA_C_1":
        continue
    assert version in ("FA_C_1", ""), f"{name} has version {version}"
    shown.add(name)

header = Path(sys.argv[2]).read_text()
plain = header.split("// cffi: begin\n")[1].split("// cffi: end\n")[0]
assert not re.search(r"^\s*#", plain, re.MULTILINE), "a preprocessor line"
plain = re.sub(r"//[^\n]*", "", plain)
declared = set(re.findall(r"\b(fa_[a-z0-9_]+)\(", plain))
assert "fa_kernel_launch" in declared
assert shown == declared, f"shown and declared differ in {shown ^ declared}"
