#!/usr/bin/env python3
"""Claude Code Stop hook: remind the agent, once, to record a session that changed files. Never writes."""

import json
import subprocess
import sys


def main() -> int:
    try:
        event = json.load(sys.stdin)
    except ValueError:
        return 0
    if event.get("stop_hook_active"):
        return 0
    session = str(event.get("session_id", ""))
    folder = str(event.get("cwd") or ".")
    try:
        changed = subprocess.run(
            ["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
        recorded = subprocess.run(
            ["ontoref", "interaction", "records", "--session", session, "--limit", "1", "--format", "json"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return 0
    if not changed or recorded not in ("", "[]"):
        return 0
    reason = (
        "This session changed files and recorded nothing yet. Record what was decided and done with "
        "`ontoref interaction record` (see `ontoref interaction template --minimal`), then stop. "
        "If there is nothing worth recording, just stop."
    )
    print(json.dumps({"decision": "block", "reason": reason}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
