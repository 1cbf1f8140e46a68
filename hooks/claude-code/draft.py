#!/usr/bin/env python3
"""Claude Code SessionEnd hook: draft the record of the session that ends.

The draft goes to .ontoref/drafts/, which git does not see. With ONTOREF_HOOK_RECORD=1 in its environment the hook
records instead; nobody reads such a record before it is in the log, so that is for projects that want it so.
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
    words = ["ontoref", "transcript", "draft", transcript, "--runtime", "claude-code", "--children"]
    if os.environ.get("ONTOREF_HOOK_RECORD") == "1":
        words.append("--record")
    try:
        done = subprocess.run(
            words,
            cwd=folder if isinstance(folder, str) and os.path.isdir(folder) else None,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        print(f"ontoref: no draft: {error}", file=sys.stderr)
        return 0
    # The end of a session is never held up; what went wrong is only said.
    if done.returncode != 0:
        print(done.stderr.strip(), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
