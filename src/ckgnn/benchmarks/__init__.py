"""Speed and memory beside other implementations of the same thing, in one run: ``ckgnn bench``."""

from ckgnn.benchmarks.groups import GROUPS, Group, Target
from ckgnn.benchmarks.suite import Row, as_json, choose, machine, run_suite

__all__ = ["GROUPS", "Group", "Row", "Target", "as_json", "choose", "machine", "run_suite"]
