-- The data plane: one file for each agent, `agents/<agent_id>/agent/ontoref-agent.sqlite`.
-- Times are milliseconds since 1970, in UTC. Text and lines of foreign files are kept byte for byte.

CREATE TABLE schema_meta (
  meta_key TEXT NOT NULL PRIMARY KEY CHECK (meta_key = 'primary'),
  role TEXT NOT NULL CHECK (role = 'agent'),
  schema_version INTEGER NOT NULL CHECK (schema_version >= 1),
  agent_id TEXT NOT NULL CHECK (agent_id <> ''),
  app_version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- One archived session. line_count, size_bytes and content_sha256 describe the lines stored, and are written
-- in the transaction that stores them: an import that was killed goes on from here.
CREATE TABLE sessions (
  session_row INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE CHECK (session_id <> ''),
  native_id TEXT NOT NULL CHECK (native_id <> ''),
  runtime TEXT NOT NULL CHECK (runtime <> ''),
  format TEXT NOT NULL CHECK (format <> ''),
  session_key TEXT,
  session_scope TEXT NOT NULL DEFAULT 'main' CHECK (session_scope IN ('main', 'subagent')),
  parent_session_id TEXT,
  spawned_by TEXT,
  project TEXT,
  display_name TEXT,
  model TEXT,
  model_provider TEXT,
  status TEXT NOT NULL CHECK (status IN ('importing', 'archived')),
  started_at INTEGER,
  ended_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  line_count INTEGER NOT NULL DEFAULT 0 CHECK (line_count >= 0),
  bad_line_count INTEGER NOT NULL DEFAULT 0 CHECK (bad_line_count >= 0),
  size_bytes INTEGER NOT NULL DEFAULT 0 CHECK (size_bytes >= 0),
  content_sha256 TEXT NOT NULL,
  ends_with_newline INTEGER NOT NULL DEFAULT 1 CHECK (ends_with_newline IN (0, 1))
) STRICT;
CREATE INDEX sessions_native ON sessions (native_id);
CREATE INDEX sessions_updated ON sessions (updated_at, session_id);
CREATE INDEX sessions_ended ON sessions (ended_at, session_id);
CREATE INDEX sessions_project ON sessions (project, ended_at, session_id);
CREATE INDEX sessions_key ON sessions (session_key) WHERE session_key IS NOT NULL;
CREATE INDEX sessions_parent ON sessions (parent_session_id) WHERE parent_session_id IS NOT NULL;

-- A session key (how a runtime addresses a conversation) to the session it last meant; entry_json is what the
-- runtime's own index says of it.
CREATE TABLE session_routes (
  session_key TEXT NOT NULL PRIMARY KEY CHECK (session_key <> ''),
  session_id TEXT NOT NULL CHECK (session_id <> ''),
  spawned_by TEXT,
  entry_json TEXT NOT NULL CHECK (json_valid(entry_json)),
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_routes_session ON session_routes (session_id);

-- One line of the source file without its newline. seq is its line number, from 1, blank and bad lines included.
CREATE TABLE transcript_events (
  session_row INTEGER NOT NULL REFERENCES sessions (session_row) ON DELETE CASCADE,
  seq INTEGER NOT NULL CHECK (seq >= 1),
  line BLOB NOT NULL,
  UNIQUE (session_row, seq)
) STRICT;

-- What a line is called by others: its own id, its parent's, and the key under which repeated usage counts once.
-- No index over event_id: its random keys would cost an import half its speed, and a session that repeats another
-- one is in the same project, whose sessions have an index.
CREATE TABLE transcript_event_identities (
  session_row INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  event_id TEXT,
  event_type TEXT,
  parent_id TEXT,
  usage_key TEXT,
  PRIMARY KEY (session_row, seq),
  FOREIGN KEY (session_row, seq) REFERENCES transcript_events (session_row, seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Files beside a transcript that belong to it: large tool results, descriptions of sub-agents. name is the
-- path relative to the transcript's folder, with `/`.
CREATE TABLE tool_artifacts (
  session_row INTEGER NOT NULL REFERENCES sessions (session_row) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (name <> ''),
  kind TEXT NOT NULL CHECK (kind IN ('tool-result', 'meta', 'journal', 'settings', 'other')),
  blob BLOB NOT NULL,
  sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_row, name)
) STRICT;

-- Lines of a run's trace file (`*.trajectory.jsonl`), byte for byte; run_id is the trace's own or ''.
CREATE TABLE trajectory_runtime_events (
  session_row INTEGER NOT NULL REFERENCES sessions (session_row) ON DELETE CASCADE,
  run_id TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 1),
  event_line BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_row, seq)
) STRICT;
CREATE INDEX trajectory_runtime_events_run ON trajectory_runtime_events (run_id);

-- A derived index of replay events; deleting its rows loses nothing. ts is in seconds since 1970, ordinal is
-- the order in the transcript; payload, mode and approval are JSON.
CREATE TABLE replay_events (
  session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
  span_id TEXT NOT NULL CHECK (span_id <> ''),
  parent_span_id TEXT,
  runtime TEXT NOT NULL CHECK (runtime <> ''),
  kind TEXT NOT NULL CHECK (kind <> ''),
  ts REAL NOT NULL,
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  mode TEXT CHECK (mode IS NULL OR json_valid(mode)),
  approval TEXT CHECK (approval IS NULL OR json_valid(approval)),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, span_id)
) STRICT;
CREATE INDEX replay_events_session_ts ON replay_events (session_id, ts, ordinal);
CREATE INDEX replay_events_session_ordinal ON replay_events (session_id, ordinal);
CREATE INDEX replay_events_parent ON replay_events (parent_span_id);
CREATE INDEX replay_events_runtime_kind ON replay_events (runtime, kind);
CREATE INDEX replay_events_created ON replay_events (created_at);

-- Derived values that are dear to compute, such as statistics of a session. An expired entry is never given.
CREATE TABLE cache_entries (
  scope TEXT NOT NULL CHECK (scope <> ''),
  key TEXT NOT NULL,
  session_row INTEGER REFERENCES sessions (session_row) ON DELETE CASCADE,
  value_json TEXT NOT NULL CHECK (json_valid(value_json)),
  blob BLOB,
  expires_at INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX cache_entries_expiry ON cache_entries (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX cache_entries_session ON cache_entries (session_row) WHERE session_row IS NOT NULL;
