#!/usr/bin/env python3
"""Claude Code SessionEnd hook: archive the session that ends, and capture what was corrected in it.

What is captured waits for review (`ontoref lesson proposals`). With ONTOREF_CAPTURE=off in its environment the hook
only archives.
"""

import json
import os
import subprocess
import sys


def main() -> int:
    try:
        event = json.load(sys.stdin)
    except ValueError:
        return 0
    transcript = event.get("transcript_path") if isinstance(event, dict) else None
    if not isinstance(transcript, str) or not os.path.isfile(transcript):
        return 0
    folder = event.get("cwd")
    folder = folder if isinstance(folder, str) and os.path.isdir(folder) else None
    # Passes over lessons are cheap, and a proposal at hand is reviewed sooner.
    for words in (["transcript", "import", transcript, "--runtime", "claude-code"], ["lesson", "run"]):
        try:
            done = subprocess.run(
                ["ontoref", *words], cwd=folder, capture_output=True, text=True, timeout=50, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            print(f"ontoref: nothing was captured: {error}", file=sys.stderr)
            return 0
        # The end of a session is never held up; what went wrong is only said.
        if done.returncode != 0:
            print(done.stderr.strip(), file=sys.stderr)
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
