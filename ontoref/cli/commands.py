"""Every command of ontoref, in the order in which help lists them.

A command is one function in one file and one line here. The line holds what `--help` prints, so that the
help of a group imports none of its commands.
"""

from __future__ import annotations

from ontoref.cli.lazy import Entry

__all__ = ["COMMANDS"]

COMMANDS: dict[str, Entry] = {
    "init": Entry("Set a project up; safe to run again.", "ontoref.cli.init:init"),
    "interaction": Entry(
        "Record, check and query what sessions decided and did.",
        commands={
            "record": Entry("Add a record to the log.", "ontoref.cli.interaction.record:record"),
            "validate": Entry("Check records.", "ontoref.cli.interaction.validate:validate"),
            "template": Entry("Print a record to fill in.", "ontoref.cli.interaction.template:template"),
            "schema": Entry("Print the shape as plain JSON Schema.", "ontoref.cli.interaction.schema:schema"),
            "coverage": Entry("List what left no record.", "ontoref.cli.interaction.coverage:coverage"),
            "export": Entry("Write records in another format.", "ontoref.cli.interaction.export:export"),
            "verify": Entry("Say what each witness proves.", "ontoref.cli.interaction.verify:verify"),
            "redact": Entry("Withhold a text; a signature stays valid.", "ontoref.cli.interaction.redact:redact"),
            "records": Entry("List records.", "ontoref.cli.interaction.records:records"),
            "decisions": Entry(
                "List decisions, and which deserve an ADR.", "ontoref.cli.interaction.decisions:decisions"
            ),
            "events": Entry("List what happened at single moments.", "ontoref.cli.interaction.events:events"),
            "actions": Entry("List what was done.", "ontoref.cli.interaction.actions:actions"),
            "insights": Entry("List what was learnt.", "ontoref.cli.interaction.insights:insights"),
            "files": Entry("List touched files and who touched them.", "ontoref.cli.interaction.files:files"),
            "tensions": Entry("List tensions and how often they came up.", "ontoref.cli.interaction.tensions:tensions"),
            "show": Entry("Show a record, or every entry of a decision.", "ontoref.cli.interaction.show:show"),
            "stats": Entry("Count the words of every facet.", "ontoref.cli.interaction.stats:stats"),
        },
    ),
    "transcript": Entry(
        "Read what agents left of their sessions.",
        commands={
            "find": Entry("List the sessions on this machine.", "ontoref.cli.transcript.find:find"),
            "show": Entry("Read one session.", "ontoref.cli.transcript.show:show"),
            "stats": Entry("Count what sessions hold.", "ontoref.cli.transcript.stats:stats"),
            "events": Entry("Print a session's neutral events.", "ontoref.cli.transcript.events:events"),
            "trace": Entry("Make the trace of a session.", "ontoref.cli.transcript.trace:trace"),
            "draft": Entry("Draft the record of a session.", "ontoref.cli.transcript.draft:draft"),
            "import": Entry(
                "Archive transcripts before their agents delete them.", "ontoref.cli.transcript.import_:import_"
            ),
            "export": Entry("Give an archived transcript back as it was.", "ontoref.cli.transcript.export:export"),
        },
    ),
    "replay": Entry(
        "See a session as the tree it was.",
        commands={
            "tree": Entry("Print who delegated what.", "ontoref.cli.replay.tree:tree"),
            "show": Entry("Read a session as a tree.", "ontoref.cli.replay.show:show"),
            "export": Entry("Write sessions into a DuckDB file.", "ontoref.cli.replay.export:export"),
            "query": Entry("Ask a DuckDB export in SQL.", "ontoref.cli.replay.query:query"),
        },
    ),
    "serve": Entry("Show sessions and decisions in the browser.", "ontoref.cli.serve:serve"),
    "adr": Entry(
        "Make architecture decision records of decisions.",
        commands={
            "candidates": Entry("Rank what waits for an ADR.", "ontoref.cli.adr.candidates:candidates"),
            "promote": Entry("Make an ADR of a decision.", "ontoref.cli.adr.promote:promote"),
            "list": Entry("List the project's ADRs.", "ontoref.cli.adr.listing:listing"),
            "check": Entry("Prove that ADRs and records fit.", "ontoref.cli.adr.check:check"),
        },
    ),
    "key": Entry(
        "Make and keep the keys that sign records.",
        commands={
            "new": Entry("Make a key.", "ontoref.cli.key.new:new"),
            "list": Entry("List the project's keys.", "ontoref.cli.key.listing:listing"),
            "export": Entry("Print a public key.", "ontoref.cli.key.export:export"),
            "rotate": Entry("Let a new key take over.", "ontoref.cli.key.rotate:rotate"),
            "revoke": Entry("Trust a key no longer.", "ontoref.cli.key.revoke:revoke"),
        },
    ),
    "vocabulary": Entry(
        "See, check and compare the words that records use.",
        commands={
            "list": Entry("List enums and shapes.", "ontoref.cli.vocabulary.listing:listing"),
            "show": Entry("Show what one of them holds.", "ontoref.cli.vocabulary.show:show"),
            "check": Entry("Prove that a vocabulary keeps the rules.", "ontoref.cli.vocabulary.check:check"),
            "diff": Entry("Say what changed and what it breaks.", "ontoref.cli.vocabulary.diff:diff"),
        },
    ),
    "migrate": Entry(
        "Bring the files that ontoref ships up to date in a project.",
        commands={
            "status": Entry("List upgrades and where the project stands.", "ontoref.cli.migrate.status:status"),
            "apply": Entry("Run the upgrades that wait.", "ontoref.cli.migrate.apply:apply"),
        },
    ),
    "hook": Entry(
        "Check records before each commit, and wire agents to ontoref.",
        commands={
            "install": Entry(
                "Put the check into the pre-commit hook, or wire an agent.", "ontoref.cli.hook.install:install"
            ),
            "uninstall": Entry("Take it out again.", "ontoref.cli.hook.uninstall:uninstall"),
            "status": Entry("Say whether it is there.", "ontoref.cli.hook.status:status"),
        },
    ),
    "lesson": Entry(
        "Review what sessions taught, and hand it to agents.",
        commands={
            "list": Entry("List lessons that hold.", "ontoref.cli.lesson.listing:listing"),
            "show": Entry("Show a lesson and where it was seen.", "ontoref.cli.lesson.show:show"),
            "search": Entry("Search lessons.", "ontoref.cli.lesson.search:search"),
            "chain": Entry("List every version of a lesson.", "ontoref.cli.lesson.chain:chain"),
            "capture": Entry("Look for corrections in archived sessions.", "ontoref.cli.lesson.capture:capture"),
            "candidates": Entry("List what was captured and waits.", "ontoref.cli.lesson.candidates:candidates"),
            "proposals": Entry("List what waits for review.", "ontoref.cli.lesson.proposals:proposals"),
            "accept": Entry("Make a proposal a lesson.", "ontoref.cli.lesson.accept:accept"),
            "reject": Entry("Turn proposals down.", "ontoref.cli.lesson.reject:reject"),
            "supersede": Entry("Replace a lesson by a better one.", "ontoref.cli.lesson.supersede:supersede"),
            "vote": Entry("Say whether a lesson helped.", "ontoref.cli.lesson.vote:vote"),
            "audit": Entry("Tell who decided what.", "ontoref.cli.lesson.audit:audit"),
            "passes": Entry("List the passes.", "ontoref.cli.lesson.passes:passes"),
            "run": Entry("Run passes: promote, decay.", "ontoref.cli.lesson.run:run"),
            "stats": Entry("Count what the store holds.", "ontoref.cli.lesson.stats:stats"),
            "import": Entry("Take lessons in.", "ontoref.cli.lesson.import_:import_"),
            "export": Entry("Write everything out.", "ontoref.cli.lesson.export:export"),
            "move": Entry("Copy everything to another place.", "ontoref.cli.lesson.move:move"),
            "brief": Entry("Print lessons for an agent.", "ontoref.cli.lesson.brief:brief"),
        },
    ),
    "session": Entry(
        "See and delete archived sessions.",
        commands={
            "show": Entry("Show what the archive knows of a session.", "ontoref.cli.session.show:show"),
            "delete": Entry("Delete archived sessions for good.", "ontoref.cli.session.delete:delete"),
        },
    ),
    "state": Entry(
        "Look after the databases of local state.",
        commands={
            "path": Entry("Print where local state is.", "ontoref.cli.state.path:path"),
            "status": Entry("List the databases and what they hold.", "ontoref.cli.state.status:status"),
            "check": Entry("Let SQLite check every database.", "ontoref.cli.state.check:check"),
            "gc": Entry("Delete what has expired.", "ontoref.cli.state.gc:gc"),
            "vacuum": Entry("Give free pages back.", "ontoref.cli.state.vacuum:vacuum"),
            "reset": Entry("Delete the whole archive.", "ontoref.cli.state.reset:reset"),
        },
    ),
    "doctor": Entry("Look for everything that is wrong, and mend it.", "ontoref.cli.doctor:doctor"),
    "backup": Entry(
        "Save local state into one archive, and bring it back.",
        commands={
            "create": Entry("Write all local state into one verified archive.", "ontoref.cli.backup.create:create"),
            "verify": Entry("Check a backup.", "ontoref.cli.backup.verify:verify"),
            "list": Entry("List the backups that were made.", "ontoref.cli.backup.listing:listing"),
            "restore": Entry("Replace local state by a backup.", "ontoref.cli.backup.restore:restore"),
        },
    ),
    "completion": Entry("Print what teaches a shell our words.", "ontoref.cli.completion:completion"),
    "mcp": Entry("Serve tools to an agent.", "ontoref.cli.mcp.serve:serve"),
    "capabilities": Entry("Describe all of this for programs.", "ontoref.cli.capabilities:capabilities"),
}
