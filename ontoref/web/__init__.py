"""The replay server: a loopback view of sessions, records and decisions. It writes nothing but decisions on lessons."""
