"""The types of Codex's lines, items and events, and the texts that Codex puts in itself."""

from __future__ import annotations

from typing import Any
from uuid import UUID

__all__ = ["EVENTS", "ITEMS", "LEGACY", "LINES", "injected", "own_start", "request_of"]

LINES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "session_state"}
LEGACY = ("state",)
ITEMS = {
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_tool_call",
    "mcp_tool_call_output",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
    "file_search_call",
    "code_interpreter_call",
    "ghost_snapshot",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "other",
}
# Events of which no event of ours is made: they repeat an item or show progress.
EVENTS = {
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "turn_aborted",
    "agent_message_delta",
    "agent_reasoning_delta",
    "agent_reasoning_section_break",
    "agent_message_content_delta",
    "reasoning_content_delta",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "entered_review_mode",
    "exited_review_mode",
    "error",
    "stream_error",
    "warning",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_started",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "patch_apply_begin",
    "patch_apply_end",
    "patch_apply_updated",
    "plan_update",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "skills_update_available",
    "terminal_interaction",
    "thread_name_updated",
    "thread_goal_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "turn_diff",
    "undo_completed",
    "undo_started",
    "view_image_tool_call",
    "web_search_begin",
    "web_search_end",
}
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for",
    "<turn_aborted>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "<INSTRUCTIONS>",
    "<model_switch>",
    "<personality_spec>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<hook_prompt",
)
_REQUEST = "## My request for Codex:"


def injected(text: str) -> bool:
    """Whether Codex itself put a user item there, by how it begins."""
    return text.lstrip().startswith(_INJECTED)


def request_of(text: str) -> str | None:
    """What a person wrote below the context that an editor put before it; None without such a context."""
    _, mark, request = text.partition(_REQUEST)
    return request.strip() if mark else None


def own_start(payload: dict[str, Any], started: float | None) -> bool:
    """Whether an event is the start of a child's own first turn, not one replayed from its parent.

    Shape: a turn's id is a UUID of version 7, which holds its time; of other ids nothing is known, and the
           first turn counts as the child's own.
    Units: started is when the child's thread began, in seconds since 1970.
    """
    if payload.get("type") not in ("task_started", "turn_started"):
        return False
    time = payload.get("started_at")
    try:
        turn = UUID(str(payload.get("turn_id")))
        if turn.version == 7:
            time = (turn.int >> 80) / 1000
    except ValueError:
        pass
    if started is None or isinstance(time, bool) or not isinstance(time, int | float):
        return True
    return time >= started - 1
