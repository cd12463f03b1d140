"""The documents tell the truth: paths exist, names resolve, commands and code run, rooms import as drawn."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import typer

from ckgnn.cli import UsageError, app
from ckgnn.data.catalog import find, names
from ckgnn.errors import DataError
from ckgnn.train import parse_settings, resolve
from ckgnn.train.rules import RULES
from ckgnn.train.rundir import FORMAT
from ckgnn.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "ckgnn"
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
FOLDERS = {"src", "tests", "docs", "scripts", "results", "examples", "benchmarks", ".ci"}
ROOMS = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
SHELLS = {"console", "bash", "sh", "shell"}
PAGES = [n for n in NAMES if re.match(r"docs/(how-to/|maths|tutorial)", n)]  # run from top to bottom

LABELS = (
    "eq:gcn_graph",
    "eq:att_computation",
    "eq:multi_att",
    "eq:last_multi_att",
    "CKGCN_1",
    "CKGCN_2",
    "eq:original_kernel_loss",
    "eq: mmd_node",
    "eq:autoencoder",
    "eq:kernel",
    "eq: regularizer_kernel",
    "eq:regularizer_difference",
    "eq:final_loss",
    "pro:A_hat_indefinite",
    "pro:product_of_indefinite_kernels",
    "pro:K_hat_indefinite",
    "theorem:characteristic",
    "fig:graph_example",
    "fig:matrix_cora",
    "fig:ker_matrix",
    "fig:adj_matrix",
    "fig:diff_matrix",
    "tab:semi-super",
    "tab:super",
    "tab:stats_text",
    "tab:text_classification",
    "sec:pre",
    "sec:kernel_learning",
    "sec:exp",
)


# -- reading markdown -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block: the document, the line of its fence, its language and its text."""

    document: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(document: str) -> list[Block]:
    """Return the fenced blocks of a document."""
    out: list[Block] = []
    fence, start, language, held = "", 0, "", []
    for number, line in enumerate((ROOT / document).read_text(encoding="utf-8").splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})\s*([\w+-]*)", line)
        if not fence and mark:
            fence, start, language, held = mark[1], number, mark[2].lower(), []
        elif fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            out.append(Block(document, start, language, "\n".join(held)))
            fence = ""
        elif fence:
            held.append(line)
    assert not fence, f"{document}:{start}: a block is not closed"
    return out


def prose(document: str) -> str:
    """Return the document without its fenced blocks."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.sub(r"^\s*(`{3,}|~{3,}).*?^\s*\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)


def spans(document: str) -> list[str]:
    """Return what stands in backticks outside fenced blocks."""
    return [re.sub(r"\s+", " ", s).strip() for s in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose(document))]


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of every ``ckgnn`` or ``make`` command in the text of a shell block."""
    for line in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"^\s*(?:[$%>] +)?", "", line)
        for part in re.split(r"&&|\|\|?|;", re.sub(r"\s[12]?>.*", "", line)):
            part = re.sub(r"^\s*(?:\w+=\S*\s+)*", "", part)
            if re.match(r"(?:\S*/)?(?:ckgnn|make)(?:\s|$)", part):
                name, *words = shlex.split(part, comments=True)
                yield [Path(name).name, *words]


# -- paths and names --------------------------------------------------------------------------------------


def is_path(span: str) -> bool:
    """Whether a span names a file of this repository, whether or not there is one."""
    if not re.fullmatch(r"[\w.*-]+(?:/[\w.*-]+)*/?(?:::\w+)?", span) or "/" not in span:
        return False
    first, suffix = span.partition("/")[0], Path(span.partition("::")[0]).suffix
    return first in FOLDERS or suffix == ".py" or (first in ROOMS and suffix == ".toml")


def missing(span: str) -> bool:
    """Whether a path, relative to the root or to the package, is not there; ``path::test`` names a function."""
    path, _, function = span.partition("::")
    found = [p for base in (ROOT, PACKAGE) for p in base.glob(path.rstrip("/"))]
    if not found:
        return True
    return bool(function) and not any(re.search(rf"^def {function}\b", p.read_text(), re.MULTILINE) for p in found)


def attribute(name: str) -> Any:
    """Return what a dotted name stands for: the longest module in it, then attributes or fields."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        try:
            thing: Any = importlib.import_module(module)
        except ModuleNotFoundError as e:
            if not (e.name and (module == e.name or module.startswith(e.name + "."))):
                raise
            continue
        for part in parts[cut:]:
            fields = getattr(thing, "__dataclass_fields__", {})
            thing = fields[part] if part in fields else getattr(thing, part)
        return thing
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("document", NAMES)
def test_paths_exist(document: str) -> None:
    wrong = [span for span in spans(document) if is_path(span) and missing(span)]
    assert not wrong, f"{document} names what is not there: {wrong}"


@pytest.mark.parametrize("document", [*NAMES, "CHANGELOG.md"])
def test_links_lead_somewhere(document: str) -> None:
    targets = re.findall(r"\]\(<?([^)>\s]+)", prose(document))
    here = [t for t in targets if not re.match(r"[a-z][a-z0-9+.-]*:|#", t)]
    wrong = [t for t in here if not ((ROOT / document).parent / t.partition("#")[0]).exists()]
    assert not wrong, f"{document} links to what is not there: {wrong}"


@pytest.mark.parametrize("document", NAMES)
def test_names_resolve(document: str) -> None:
    wrong = []
    for span in spans(document):
        if match := re.fullmatch(r"(ckgnn(?:\.\w+)+)(?:\(.*\))?", span):
            try:
                attribute(match[1])
            except (AttributeError, ModuleNotFoundError):
                wrong.append(match[1])
    assert not wrong, f"{document} names what does not exist: {wrong}"


def test_the_checks_find_what_is_wrong() -> None:
    assert all(map(is_path, ["src/ckgnn/graph.py", "tests/nowhere/", "nn/none.py", "tests/test_docs.py::test_x"]))
    assert not any(map(is_path, ["graph.py", "runs/first", "n/a", "a / b", "kimiyoung/planetoid", "data/cora"]))
    assert not any(map(missing, ["sparse/ops.py", "src/ckgnn/presets/*.toml", "tests/test_docs.py::test_paths_exist"]))
    assert all(map(missing, ["src/ckgnn/nothing.py", "tests/test_docs.py::test_nothing"]))
    assert attribute("ckgnn.train.Config.encoder").name == "encoder"
    with pytest.raises(AttributeError):
        attribute("ckgnn.graph.Graph.nothing")
    text = "$ CKGNN_DATA=x ckgnn data get cora \\\n  --json | head  # why\n.venv/bin/ckgnn theory && make test\nls"
    assert list(commands(text)) == [["ckgnn", "data", "get", "cora", "--json"], ["ckgnn", "theory"], ["make", "test"]]
    for line in ("train", "trian ckgcn", "train ckgcn --no-such-option", "train ckgcn --seed many"):
        with pytest.raises(UsageError):
            parse(line.split())
    with pytest.raises(ValueError, match="unknown key"):
        parse(["train", "ckgcn", "--set", "no_such_key=1"])


# -- the paper --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", LABELS)
def test_the_map_has_every_label_of_the_paper(label: str) -> None:
    assert f"`{label}`" in (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("thing", [*(f"proposition {i}" for i in range(1, 7)), *(f"Table {i}" for i in range(1, 5))])
def test_the_map_has_every_proposition_and_table(thing: str) -> None:
    assert re.search(rf"^\| {thing}\b", (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8"), re.MULTILINE)


# -- the architecture -------------------------------------------------------------------------------------


def room_of(path: Path) -> str:
    """Return the room that a source file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Return the rooms that a file imports, at its head or anywhere in it."""
    out: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "ckgnn":
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ckgnn."):
            out.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            out |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("ckgnn.")}
    return out


def drawn_rooms() -> dict[str, set[str]]:
    """Return the table of docs/architecture.md that says which room may import which."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("| room | may import |\n")[2].partition("\n\n")[0].splitlines()[1:]
    out: dict[str, set[str]] = {}
    for row in table:
        rooms, allowed = (set(re.findall(r"`(\w+)`", cell)) for cell in row.strip("| ").split("|"))
        for room in rooms:
            out[room] = allowed
    return out


def test_rooms_import_only_what_the_table_allows() -> None:
    rooms = drawn_rooms()
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        room = room_of(path)
        if room not in ("__init__", "__main__", "cli"):
            assert room in rooms, f"docs/architecture.md does not say what {room} may import"
            wrong += [f"{path.relative_to(PACKAGE)}: {other}" for other in imported(path) - rooms[room] - {room}]
    assert not wrong


def test_the_table_has_no_circle() -> None:
    rooms = {room: set(allowed) for room, allowed in drawn_rooms().items()}
    while free := [room for room, allowed in rooms.items() if not allowed & set(rooms)]:
        for room in free:
            del rooms[room]
    assert set(rooms) <= {"cli"}


def test_versions_are_the_current_ones() -> None:
    assert f"## [{__version__}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"Format version: **{FORMAT}**" in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


# -- commands ---------------------------------------------------------------------------------------------


def parse(words: list[str]) -> None:
    """Read a command as ``ckgnn`` would, and check the names it is given; nothing is carried out."""

    def silence(command: Any) -> None:
        for child in getattr(command, "commands", {}).values():
            silence(child)
        if not hasattr(command, "commands"):
            command.callback = check

    def check(**given: Any) -> None:
        dataset = given.get("dataset") or given.get("name") or "debian-topics"
        compared = given.get("compare") or []
        compared = compared.split(",") if isinstance(compared, str) else compared  # of a study, of a training
        models = [m for m in [given.get("model"), *compared] if m and not m.isupper()]
        if not dataset.isupper():
            find(dataset)
        for model in models:
            own = given.get("settings") if model == given.get("model") else None
            resolve(model, dataset, given.get("split") or "public", parse_settings(own or []))

    command = typer.main.get_command(app)
    silence(command)
    command(args=words, prog_name="ckgnn", standalone_mode=False)


def targets() -> set[str]:
    """Return what ``make`` can be asked for."""
    phony = re.search(r"^\.PHONY:(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return set(phony[1].split()) if phony else set()


@pytest.mark.parametrize("document", NAMES)
def test_commands_in_blocks_are_valid(document: str, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(document):
        for name, *words in commands(block.text) if block.language in SHELLS else ():
            if name == "make":
                asked = [w for w in words if "=" not in w and not w.startswith("-")]
                assert set(asked) <= targets(), f"{block}: make {shlex.join(words)}"
            elif "..." not in words:
                try:
                    parse(words)
                except (UsageError, ValueError) as e:
                    pytest.fail(f"{block}: ckgnn {shlex.join(words)}: {e}")


@pytest.mark.parametrize("document", NAMES)
def test_commands_in_sentences_are_valid(document: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As above, but a sentence may leave out what a command needs."""
    for span in spans(document):
        for name, *words in commands(span):
            if name == "ckgnn" and words and "..." not in words:
                try:
                    parse(words)
                except (UsageError, ValueError) as e:
                    if type(e).__name__ not in ("MissingParameter", "NoArgsIsHelpError"):
                        pytest.fail(f"{document}: {span}: {e}")


# -- code blocks ------------------------------------------------------------------------------------------

ALONE = [document for document in NAMES if document not in ("CONTRIBUTING.md", *PAGES)]  # each block by itself
PYTHON = [b for document in ALONE for b in blocks(document) if b.language == "python"]


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End every training after three epochs, ask nobody for data, draw on no screen."""
    fit, sources = importlib.import_module("ckgnn.train.fit"), importlib.import_module("ckgnn.data.sources")
    real = fit.make_rule

    def make_rule(text: str, epochs: int) -> Any:
        real(text, epochs)  # a rule that does not exist is still refused
        return RULES["fixed"](3, epochs)

    monkeypatch.setattr(fit, "make_rule", make_rule)
    for source in ("from_origin", "from_wheel"):
        monkeypatch.setattr(sources, source, lambda entry, wanted: ({}, "not asked in a test"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)  # tracking goes to a folder of the test
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def train_first(block: Block) -> None:
    """Do the trainings that a document asks for before a block, so that the block finds their run directories."""
    made = re.search(r"^\t\S*/?ckgnn (train .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for earlier in blocks(block.document):
        for name, *words in commands(earlier.text) if earlier.language in SHELLS and earlier.line < block.line else ():
            if name == "make" and "train" in words and made:
                words = shlex.split(made[1])
            if words[:1] == ["train"]:
                extra = [w for w in ("--no-figures", "--json", "--resume") if w not in words]
                app([*words, *extra], standalone_mode=False)


@pytest.mark.parametrize("block", [pytest.param(b, id=str(b)) for b in PYTHON])
@pytest.mark.usefixtures("brief")
def test_code_blocks_run(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = compile("\n" * block.line + block.text, str(ROOT / block.document), "exec")
    try:
        if "runs/" in block.text:
            train_first(block)
        exec(code, {"__name__": "__main__"})
    except DataError as e:
        if "could not be found" not in str(e):
            raise
        pytest.skip("needs benchmark files: set CKGNN_DATA to a directory that holds them")


# -- pages, from top to bottom ----------------------------------------------------------------------------

NOT_RUN = {  # how a command begins that is parsed only, and why
    "python3 -m venv": "makes an environment",
    ". .venv": "enters it",
    "pip": "installs",
    "git": "needs a remote",
    "make": "runs the tests, these among them",
    "ckgnn bench": "takes half an hour",
    "ckgnn study run": "takes minutes, in processes that no fixture reaches",
    "ckgnn study show": "needs what the line above makes",
    "ckgnn study search": "takes minutes",
}
README_PARTS = ("Your own graph", "Texts")


def shell_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield every command of a shell block, and what is fed to it by ``<<EOF``."""
    lines = iter(text.replace("\\\n", " ").splitlines())
    for line in lines:
        line = re.sub(r"^\s*(?:[$%>] +)?", "", line)
        end = re.search(r"<<'?(\w+)'?$", line)
        fed = list(iter(lambda: next(lines), end[1])) if end else []
        if line:
            yield line, "".join(f"{row}\n" for row in fed)


def downloads(words: list[str]) -> bool:
    """Whether a command names a dataset that does not come with the package."""
    return any(word in names() and not find(word).embedded for word in words)


def carry_out(line: str, fed: str) -> None:
    """Do what a line of a shell says: ``ckgnn`` in this process, files written and shown, nothing else."""
    dry = line.endswith("--dry-run")
    if any(line.startswith(beginning) for beginning in NOT_RUN) and not dry:
        return
    if written := re.fullmatch(r"cat > (\S+) <<'?\w+'?", line):
        Path(written[1]).write_text(fed, encoding="utf-8")
    elif shown := re.fullmatch(r"head -(\d+) (\S+)", line):
        print(*Path(shown[2]).read_text(encoding="utf-8").splitlines()[: int(shown[1])], sep="\n")
    elif line.startswith("ckgnn "):
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "train" and "--no-figures" not in words:
            words.append("--no-figures")  # they take longer than three epochs, and have tests of their own
        if dry or not downloads(words):
            assert not app(words, standalone_mode=False), f"{line}: the exit code is not 0"
    else:
        pytest.fail(f"{line}: it is not known how to run this; write it otherwise, or give a reason in NOT_RUN")


def without_numbers(text: str) -> list[str]:
    """Return the lines of an output with every number as ``#`` and one space for many: these change, words do not."""
    return [re.sub(r"[\s─-]+", " ", re.sub(r"[-+]?\d[\d,.]*", "#", line)).strip() for line in text.splitlines()]


def run_blocks(held: list[Block], capsys: pytest.CaptureFixture[str]) -> None:
    """Run blocks one after another; a ``text`` block must be part of what the commands before it printed."""
    known: dict[str, Any] = {"__name__": "__main__"}
    printed: list[str] = []
    for block in held:
        if block.language in SHELLS:
            for line, fed in shell_lines(block.text):
                carry_out(line, fed)
            printed = without_numbers("".join(capsys.readouterr()))
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(ROOT / block.document), "exec"), known)
        elif block.language == "text":
            absent = [line for line in without_numbers(block.text) if line not in (*printed, "...")]
            assert not absent, f"{block} shows what is not printed: {absent}; printed was {printed}"


@pytest.mark.parametrize(
    "document", [pytest.param(p, marks=[pytest.mark.slow] if "tracking" in p else []) for p in PAGES]
)
@pytest.mark.usefixtures("brief")
def test_pages_run(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(blocks(document), capsys)


@pytest.mark.parametrize("part", README_PARTS)
@pytest.mark.usefixtures("brief")
def test_readme_runs(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (write_graph if part == "Your own graph" else write_texts)()
    above = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"\n## {part}\n")[0].count("\n") + 1
    below = [b for b in blocks("README.md") if b.line > above]
    run_blocks([next(b for b in below if b.language in SHELLS)], capsys)


def write_graph() -> None:
    """Write the tables that the README speaks of: two classes, and words that lean towards one of them."""
    kinds = {"boats": ["hull", "mast", "sail"], "bread": ["dough", "oven", "yeast"]}
    ids = ["some-node", *(f"node-{i}" for i in range(39))]
    topics = [list(kinds)[i % 2] for i in range(40)]
    rows = [f"{name},{i % 7},{' '.join(kinds[topics[i]][: 1 + i % 3])},{topics[i]}" for i, name in enumerate(ids)]
    edges = [f"{ids[i]},{ids[j]}" for i in range(40) for j in ((i + 2) % 40, (i + 5) % 40)]
    Path("nodes.csv").write_text("\n".join(["id,size,words,topic", *rows]))
    Path("edges.csv").write_text("\n".join(["source,target", *edges]))
    Path("new.csv").write_text("id,size,words\nnew-1,3,hull sail\nnew-2,4,dough")
    Path("new_edges.csv").write_text("source,target\nnew-1,some-node\nnew-2,new-1")


def write_texts() -> None:
    """Write the texts that the README speaks of."""
    boats, bread = "the hull and the mast sail into harbour", "yeast dough and flour bake in the oven"
    Path("news.csv").write_text("body,topic\n" + f"{boats},boats\n{bread},bread\n" * 20)
    Path("new.csv").write_text("body\na mast\nwarm dough\n?\n")


def test_runs_of_pages_find_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Block("page", 1, "console", "cat > a.csv <<EOF\nid,n\nx,-1.5\nEOF\nhead -2 a.csv\nmake test\n")
    run_blocks([shell, Block("page", 9, "text", "id,n\n...\nx,27")], capsys)
    with pytest.raises(AssertionError, match="y,#"):
        run_blocks([shell, Block("page", 9, "text", "y,27")], capsys)
    with pytest.raises(pytest.fail.Exception, match="not known how to run"):
        run_blocks([Block("page", 1, "sh", "rm -r somewhere")], capsys)
    with pytest.raises(ZeroDivisionError):
        run_blocks([Block("page", 1, "python", "a = 0"), Block("page", 5, "python", "1 / a")], capsys)
    assert downloads(["train", "ckgcn", "--dataset", "r8"])
    assert not downloads(["train", "ckgcn", "--dataset", "debian-topics"])
