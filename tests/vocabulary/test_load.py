"""Files become a vocabulary or an error that names the place; nothing between."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontoref import resources
from ontoref.cli.vocabulary.shared import definitions
from ontoref.vocabulary import Vocabulary, VocabularyError, load, load_table
from ontoref.vocabulary import compile as compiling
from ontoref.vocabulary.diff import diff
from ontoref.vocabulary.load import compiled_name, load_files, read_files
from ontoref.vocabulary.template import template_of
from ontoref.vocabulary.yaml_file import YamlFile, parse
from tests.vocabulary.cases import change, copy_schemas

NAMES = ("coder.yaml", "core.yaml", "interaction.yaml", "replay.yaml")


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    return {name: dict(load().documents[name]) for name in NAMES}


def pointers(node: Any, steps: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [steps] if steps else []
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in pairs:
        found += pointers(inner, (*steps, key))
    return found


ODD = st.one_of(
    st.sampled_from([None, True, False, 0, -1, 2**40, 1.5, "", "^", "string", "object", [], {}, [[]], [{}], {"a": 1}]),
    st.sampled_from([{"$ref": "#/$defs/Label"}, {"type": "string"}, {"type": "strin"}, {"const": []}, ["a", "a"]]),
    st.sampled_from([{"x-replaced-by": []}, {"x-prose": 1}, {"oneOf": []}, {"anyOf": [True]}, {"properties": []}]),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_any_change_of_the_files_gives_a_vocabulary_that_works_or_a_clear_error(
    data: st.DataObject, documents: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-12: nothing that a person can write into the files is a crash."""
    changed = copy.deepcopy(documents)
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(NAMES))
        way = data.draw(st.sampled_from(pointers(changed[name])))
        parent = changed[name]
        for step in way[:-1]:
            parent = parent[step]
        match data.draw(st.sampled_from(["remove", "replace", "rename"])):
            case "remove":
                del parent[way[-1]]
            case "replace":
                parent[way[-1]] = copy.deepcopy(data.draw(ODD))
            case _ if isinstance(parent, dict):
                parent[data.draw(st.sampled_from(["type", "$ref", "x-open", "enum", "Kind", "items", "a/b~c"]))] = (
                    parent.pop(way[-1])
                )
    monkeypatch.setattr(compiling, "parse", lambda name, path, content: YamlFile(name, changed[name], {}))
    refusal: VocabularyError | None
    try:
        compiled = compiling.compile_files("words", dict.fromkeys(NAMES, b""))
    except VocabularyError as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        assert refusal.message
        assert refusal.path.startswith("words")
        return
    vocabulary = Vocabulary(folder="words", **compiled)
    for name in vocabulary.nouns.values():
        vocabulary.noun(name)
    assert definitions(vocabulary)
    diff(load(), vocabulary)
    diff(vocabulary, load())
    json.dumps(template_of(vocabulary, {}, minimal=False))
    json.dumps([vocabulary.schema, vocabulary.strict])


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "a:",
                "-",
                "[",
                "]",
                "{",
                "}",
                ",",
                "&",
                "*",
                "!",
                "|",
                ">",
                "'",
                '"',
                "#",
                "%",
                "@",
                "`",
                "?",
                "\n",
                "\t",
                "1",
                "~",
            ]
        )
    )
)
def test_any_text_is_a_file_or_a_clear_error(content: str | list[str]) -> None:
    text = content if isinstance(content, str) else " ".join(content)
    # Anything but this error is a crash, and fails the test by itself.
    with contextlib.suppress(VocabularyError):
        parse("x.yaml", "x.yaml", text.encode("utf-8", "surrogatepass"))


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    vocabulary = load(str(copy_schemas(tmp_path)))
    lines = (tmp_path / "coder.yaml").read_text(encoding="utf-8").splitlines()
    for enum in vocabulary.enums.values():
        if enum.document == "coder.yaml":
            assert lines[enum.line - 1].strip() == f"{enum.name}:"


def test_the_compiled_form_changes_with_any_byte(tmp_path: Path) -> None:
    files = read_files(str(copy_schemas(tmp_path)))
    name = compiled_name(files)
    assert compiled_name({**files, "coder.yaml": files["coder.yaml"] + b"\n"}) != name
    renamed = {("kore.yaml" if key == "core.yaml" else key): value for key, value in files.items()}
    assert compiled_name(renamed) != name


def test_what_is_cached_is_what_is_compiled(tmp_path: Path) -> None:
    files = read_files(str(copy_schemas(tmp_path)))
    # A comment of its own makes it new to the cache.
    files["core.yaml"] += b"# cached once\n"
    first, second = load_files("words", files), load_files("words", files)
    assert (first.documents, first.schema, first.strict, first.lines, first.digest) == (
        second.documents,
        second.schema,
        second.strict,
        second.lines,
        second.digest,
    )


def test_the_digest_is_of_what_a_record_reaches(tmp_path: Path) -> None:
    folder = copy_schemas(tmp_path)
    before = load(str(folder)).digest
    (folder / "replay.yaml").write_text((folder / "replay.yaml").read_text(encoding="utf-8") + "# more\n", "utf-8")
    assert load(str(folder)).digest == before
    change(folder, "coder.yaml", "A fault removed.", "A fault mended.")
    assert load(str(folder)).digest != before


def test_strict_is_what_earns_no_warning(tmp_path: Path) -> None:
    folder = copy_schemas(tmp_path)
    change(
        folder,
        "coder.yaml",
        "{const: Fix, description: A fault removed.",
        "{const: Fix, description: d, deprecated: true",
    )
    vocabulary = load(str(folder))
    assert "Fix" in vocabulary.schema["$defs"]["Kind"]["enum"]
    assert "Fix" not in vocabulary.strict["$defs"]["Kind"]["enum"]
    assert "anyOf" in vocabulary.schema["$defs"]["TensionId"]
    assert "anyOf" not in vocabulary.strict["$defs"]["TensionId"]


def test_a_role_that_a_project_removed_is_asked_for_by_name(tmp_path: Path) -> None:
    vocabulary = load(str(copy_schemas(tmp_path)))
    with pytest.raises(VocabularyError, match="no member of Kind has x-role: gardener"):
        vocabulary.enum("Kind").by_role("gardener")
    with pytest.raises(VocabularyError, match="no enum is named Kin"):
        vocabulary.enum("Kin")


def test_a_project_may_bring_its_own_table(tmp_path: Path) -> None:
    folder = copy_schemas(tmp_path / "project" / ".ontoref" / "schemas")
    ours = load_table("actors")
    assert load_table("actors", project=str(tmp_path / "project")) == ours
    (folder / "tables").mkdir()
    (folder / "tables" / "actors.yaml").write_text("variables: {ROBOT: Automation}\n", encoding="utf-8")
    assert load_table("actors", project=str(tmp_path / "project")) == {"variables": {"ROBOT": "Automation"}}
    (folder / "tables" / "actors.yaml").write_text("- a\n", encoding="utf-8")
    with pytest.raises(VocabularyError, match="a table is a mapping"):
        load_table("actors", project=str(tmp_path / "project"))


def test_words_in_our_tables_are_members() -> None:
    """A table that names a word nobody knows would make drafts that validate refuses."""
    vocabulary = load()
    actors = load_table("actors")
    assert set(actors["variables"].values()) | {actors["terminal"]} <= set(vocabulary.enum("ActorKind"))


def test_our_files_state_the_draft_and_their_name() -> None:
    """S4-9: coder.yaml alone defines ActorKind, Kind, Domain and Category; the record refers to them."""
    vocabulary = load()
    for name in ("ActorKind", "Kind", "Domain", "Category"):
        holders = [document for document, content in vocabulary.documents.items() if name in content.get("$defs", {})]
        assert holders == ["coder.yaml"]
    fields = vocabulary.documents["interaction.yaml"]["$defs"]["InteractionRecord"]["properties"]
    assert fields["actor"]["$ref"] == "coder.yaml#/$defs/ActorKind"
    for name, content in vocabulary.documents.items():
        assert content["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert content["$id"].endswith(f"/{name}")


def test_prose_is_marked_in_three_places_and_nowhere_else() -> None:
    """S4-3: summary is the only free text of a record's own; a label is one line."""
    vocabulary = load()
    prose = [
        f"{noun}.{path}"
        for noun in ("InteractionRecord", *vocabulary.nouns.values())
        for path, facet in vocabulary.noun(noun).items()
        if facet.prose
    ]
    assert prose == ["InteractionRecord.summary", "Event.note", "Decision.rationale"]


def test_an_install_without_its_schemas_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: str(tmp_path / name))
    with pytest.raises(VocabularyError, match="cannot be read"):
        load()
