-- The control plane: one file, `state/ontoref.sqlite`. Times are milliseconds since 1970, in UTC.

CREATE TABLE schema_meta (
  meta_key TEXT NOT NULL PRIMARY KEY CHECK (meta_key = 'primary'),
  role TEXT NOT NULL CHECK (role = 'global'),
  schema_version INTEGER NOT NULL CHECK (schema_version >= 1),
  agent_id TEXT CHECK (agent_id IS NULL),
  app_version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Where agent databases are. A path below the state directory is stored relative to it, so that the directory
-- may be moved as a whole; any other path is absolute.
CREATE TABLE agent_databases (
  agent_id TEXT NOT NULL CHECK (agent_id <> ''),
  path TEXT NOT NULL CHECK (path <> ''),
  schema_version INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  PRIMARY KEY (agent_id, path)
) STRICT;
CREATE INDEX agent_databases_seen ON agent_databases (last_seen_at);

-- Locks are rows. owner is unknown to others; host, pid and process_started tell whether a process of this
-- machine still lives.
CREATE TABLE state_leases (
  scope TEXT NOT NULL CHECK (scope <> ''),
  lease_key TEXT NOT NULL,
  owner TEXT NOT NULL CHECK (owner <> ''),
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  process_started TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  payload_json TEXT CHECK (payload_json IS NULL OR json_valid(payload_json)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (scope, lease_key)
) STRICT;
CREATE INDEX state_leases_expiry ON state_leases (expires_at);

CREATE TABLE migration_runs (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('import', 'follow', 'doctor')),
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'warning', 'failed')),
  report_json TEXT CHECK (report_json IS NULL OR json_valid(report_json))
) STRICT;
CREATE INDEX migration_runs_started ON migration_runs (started_at);

-- The ledger: one row for a source and the table it fills. `deleted` is a tombstone: the session was deleted
-- and an import leaves the source alone.
CREATE TABLE migration_sources (
  source_key TEXT NOT NULL PRIMARY KEY,
  migration_kind TEXT NOT NULL CHECK (migration_kind IN ('transcript', 'trajectory', 'artifact', 'routes')),
  source_path TEXT NOT NULL,
  target_table TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_id TEXT,
  source_sha256 TEXT,
  source_size_bytes INTEGER NOT NULL CHECK (source_size_bytes >= 0),
  source_mtime_ns INTEGER NOT NULL,
  source_offset_bytes INTEGER NOT NULL CHECK (source_offset_bytes >= 0),
  source_record_count INTEGER NOT NULL CHECK (source_record_count >= 0),
  last_run_id TEXT REFERENCES migration_runs (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'warning', 'failed', 'deleted')),
  imported_at INTEGER,
  removed_source INTEGER NOT NULL DEFAULT 0 CHECK (removed_source IN (0, 1)),
  report_json TEXT CHECK (report_json IS NULL OR json_valid(report_json)),
  UNIQUE (source_path, target_table)
) STRICT;
CREATE INDEX migration_sources_session ON migration_sources (agent_id, session_id);
CREATE INDEX migration_sources_status ON migration_sources (status);
CREATE INDEX migration_sources_run ON migration_sources (last_run_id);
CREATE INDEX migration_sources_hash ON migration_sources (source_sha256) WHERE status = 'deleted';

CREATE TABLE backup_runs (
  id TEXT NOT NULL PRIMARY KEY,
  created_at INTEGER NOT NULL,
  archive_path TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('completed', 'failed')),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  manifest_json TEXT CHECK (manifest_json IS NULL OR json_valid(manifest_json))
) STRICT;
CREATE INDEX backup_runs_created ON backup_runs (created_at);
