"""What a witness costs: signing records, beside hashing and signing their bytes in a bare loop.

    python benchmarks/signing.py [--records 10000] [--rounds 5]

Prints the ratio of the two, the median of the rounds. Goal: less than 3.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import time
from pathlib import Path

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ontoref.interaction.witness import Prose, seal
from ontoref.vocabulary import load

EXAMPLES = Path(__file__).parent.parent / "examples" / "interactions"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lines = [line for path in sorted(EXAMPLES.rglob("*.jsonl")) for line in path.read_bytes().splitlines()]
    records = [orjson.loads(lines[n % len(lines)]) for n in range(options.records)]
    for record in records:
        record.pop("witness", None)
    vocabulary = load()
    prose, key = Prose(vocabulary), Ed25519PrivateKey.generate()
    algorithm = vocabulary.enum("SignatureAlgorithm").by_role("ed25519")

    def bare() -> None:
        for record in records:
            key.sign(hashlib.sha256(orjson.dumps(record)).digest())

    def sealed() -> None:
        for record in records:
            seal(
                record,
                prose,
                key.sign,
                op_id="op",
                state_root="a" * 40,
                key_id="k",
                algorithm=algorithm,
                new_salt=lambda: os.urandom(16),
            )

    ratios = []
    for _ in range(options.rounds):
        times = []
        for run in (bare, sealed):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        ratios.append(times[1] / times[0])
        print(f"bare {times[0]:.3f} s   sealed {times[1]:.3f} s   ratio {ratios[-1]:.2f}")
    print(f"median ratio {statistics.median(ratios):.2f} (goal: under 3)")


if __name__ == "__main__":
    main()
