"""Studies: many runs, each recorded in a ledger as one line of JSON.

| file | what it holds |
| --- | --- |
| ``definition``, ``seeds`` | which cells a study has, from TOML (``tables/*.toml`` are those of this package) |
| ``cells`` | a cell: method, dataset, split, seed, rule and changed settings |
| ``methods`` | one face for the comparison systems and the models of the paper |
| ``worker``, ``memory`` | one cell from its name to its record |
| ``ledger`` | the file of records |
| ``plan`` | what is left to do, and for how long |
| ``run`` | carry that out, recording as it goes |
| ``engines``, ``processes``, ``cluster`` | where cells run: by name, on this machine, on a Ray cluster |

Nothing is imported here: a worker process has to set its number of threads before numerical libraries are loaded.
"""
