"""Files of names: what is written reads back, what others write is read, and mistakes are named with their remedy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ape.errors import InputError
from ape.ledger.entity import (
    Entity,
    EntityKind,
    EntityStatus,
    FormRole,
    Gender,
    GenderEvidence,
    Ledger,
    LedgerConflict,
    SourceForm,
    Variant,
)
from ape.ledger.files import NAME_FORMATS, read_names, write_names
from ape.ledger.files.formats import MAX_NAMES, format_names, parse_names
from tests.linear import assert_linear

RHODE = Entity(
    "e1",
    EntityKind.PERSON,
    (SourceForm("罗德"), SourceForm("阿德", FormRole.NICKNAME)),
    "Rhode",
    short_forms=("Mr. Rhode",),
    variants=(Variant("Rhode", 37), Variant("Rhodes", 12), Variant("Rode; or so", 3)),
    gender=Gender.MALE,
    evidence=(GenderEvidence(Gender.MALE, "他", "p7", 1.0),),
    count=52,
    first="p1",
    last="p99",
    status=EntityStatus.LOCKED,
    note="the hero",
)
LEDGER = Ledger("zh", "en", (RHODE,), (LedgerConflict("e1", "gender", ("male", "female"), "she in p9"),))

# Control characters, line breaks and marks that turn the writing round are refused in names, as are our marks.
texts = (
    st.text(
        st.characters(
            exclude_categories=("Cc", "Cs", "Zl", "Zp"),
            exclude_characters="⟦⟧\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
        ),
        min_size=1,
        max_size=12,
    )
    .map(str.strip)
    .filter(bool)
)
entities = st.builds(
    Entity,
    id=texts,
    kind=st.sampled_from(EntityKind),
    source_forms=st.lists(st.builds(SourceForm, texts, st.sampled_from(FormRole)), min_size=1, max_size=3).map(tuple),
    target=st.one_of(st.just(""), texts),
    short_forms=st.lists(texts, max_size=2).map(tuple),
    variants=st.lists(st.builds(Variant, texts, st.integers(0, 99_999), st.booleans()), max_size=3).map(tuple),
    gender=st.sampled_from(Gender),
    count=st.integers(0, 99_999),
    first=st.one_of(st.just(""), texts),
    last=st.one_of(st.just(""), texts),
    status=st.sampled_from(EntityStatus),
    note=st.one_of(st.just(""), texts),
)
ledgers = st.lists(entities, min_size=1, max_size=4, unique_by=lambda entity: entity.id).map(
    lambda found: Ledger("", "", tuple(replace(entity, gender=found[0].gender) for entity in found))
)


@hypothesis_settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault
@given(ledgers, st.sampled_from(["csv", "tsv", "json"]))
def test_a_lossless_format_reads_back_as_it_was_written(ledger: Ledger, format: str) -> None:
    assert parse_names(format_names(ledger, format), f"names.{format}") == ledger


def test_json_keeps_evidence_conflicts_and_languages(tmp_path: Path) -> None:
    write_names(LEDGER, tmp_path / "names.json")
    assert read_names(tmp_path / "names.json", source_language="zh", target_language="en") == LEDGER


@pytest.mark.parametrize("name", ["names.csv", "names.tsv"])
def test_a_table_keeps_all_that_a_person_changes(tmp_path: Path, name: str) -> None:
    write_names(LEDGER, tmp_path / name)
    found = read_names(tmp_path / name, source_language="zh", target_language="en")
    assert found.entities == (replace(RHODE, evidence=()),)


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_no_cell_of_a_table_is_a_formula_for_a_spreadsheet(format: str) -> None:
    hostile = replace(RHODE, target='=HYPERLINK("http://example.org")', note="@SUM(A1)")
    text = format_names(Ledger("zh", "en", (hostile,)), format)
    assert "'=HYPERLINK" in text
    assert "'@SUM" in text
    (found,) = parse_names(text, f"names.{format}").entities
    assert (found.target, found.note) == (hostile.target, hostile.note)


@pytest.mark.parametrize("format", ["glossary-json", "list", "tbx"])
def test_a_glossary_keeps_source_rendering_and_gender(format: str) -> None:
    (entity,) = parse_names(format_names(LEDGER, format), "names").entities
    assert (entity.source_forms[0].text, entity.target, entity.gender) == ("罗德", "Rhode", Gender.MALE)
    assert entity.status is EntityStatus.CONFIRMED


def test_tbx_keeps_short_forms_and_variants() -> None:
    (entity,) = parse_names(format_names(LEDGER, "tbx"), "names.tbx").entities
    assert entity.short_forms == ("Mr. Rhode",)
    assert entity.variants == (Variant("Rhodes", 0), Variant("Rode; or so", 0))


def test_tbx_of_version_2_is_read_with_its_doctype() -> None:
    text = """<?xml version="1.0" encoding="UTF-16"?>
<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX" xml:lang="en"><text><body>
<termEntry id="t1"><descrip type="definition">female, a place?</descrip>
<langSet xml:lang="zh-CN"><tig><term>宁宁</term></tig></langSet>
<langSet xml:lang="en-US"><ntig><termGrp><term>Ning Ning</term></termGrp></ntig></langSet></termEntry>
</body></text></martif>"""
    (entity,) = parse_names(text, "names.tbx", source_language="zh", target_language="en").entities
    assert (entity.id, entity.target, entity.gender) == ("t1", "Ning Ning", Gender.FEMALE)


@pytest.mark.parametrize(
    "text",
    [
        "宁宁,Ning Ning,female\n罗德,Rhode\n",
        "宁宁\tNing Ning\tfemale\n罗德\tRhode\n",
        "source;target;gender\n宁宁;Ning Ning;female\n罗德;Rhode;\n",
        "宁宁->Ning Ning #female\n# a comment\n\n罗德 -> Rhode\n",
        json.dumps(
            [{"src": "宁宁", "dst": "Ning Ning", "info": "女性", "regex": False}, {"src": "罗德", "dst": "Rhode"}]
        ),
        "\ufeffsrc,dst,info\r\n宁宁,Ning Ning,女性\r\n罗德,Rhode,\r\n",
    ],
)
def test_the_glossaries_of_other_tools_are_read(text: str) -> None:
    found = parse_names(text, "names", source_language="zh", target_language="en").entities
    assert [(one.source_forms[0].text, one.target, one.gender) for one in found] == [
        ("宁宁", "Ning Ning", Gender.FEMALE),
        ("罗德", "Rhode", Gender.UNKNOWN),
    ]
    assert [one.id for one in found] == ["宁宁", "罗德"]


def test_a_dictionary_in_json_is_a_glossary() -> None:
    assert parse_names('{"罗德": "Rhode"}', "names.json").entities[0].target == "Rhode"


def test_two_characters_of_one_name_get_ids_of_their_own() -> None:
    found = parse_names("小白,Xiaobai\n小白,Whitey\n", "names.csv").entities
    assert [one.id for one in found] == ["小白", "小白 2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("source,target\n", "no entries"),
        ("source,target,colour\n罗德,Rhode,red\n", "unknown columns: 'colour'"),
        ("source,target,regex\n罗.*,Rhode,1\n", "Regular expressions are not supported"),
        ("id,source,target\n1,罗德,Rhode\n1,宁宁,Ning Ning\n", "Line 3 of names: the id '1' is taken by line 2"),
        ("source,target,gender\n罗德,Rhode,male\n罗德,Rhode,female\n", "Line 3 .* is female here and male in line 2"),
        ("source,target,gender\n罗德,Rhode,male/female\n", "Line 2 .* gender is 'male/female'. Use one of: female"),
        ("source,target,kind\n罗德,Rhode,hero\n", "kind is 'hero'"),
        ("source,target,count\n罗德,Rhode,many\n", "count is 'many'"),
        ("source,target\n,Rhode\n", "Line 2 .* source is empty"),
        ("source,target\n罗德,Rhode,x,y\n", "4 cells under 2 columns"),
        ("source,note\n罗德,Rhode\n", "no column 'target'"),
        ('source,target\n"罗德,Rhode\n', "can't be read"),
        ("罗德\n宁宁\n", "Line 1 .* 1 cells"),
        ("id,source,target,aliases\n1,罗德,Rhode,7\n", "alias of '7'"),
        ("罗德->Rhode\n宁宁\n", "Line 2 .* has no arrow"),
        ("Rhode,罗德\nNing Ning,宁宁\n", "swapped"),
        ('[{"src": "罗.*", "dst": "R", "regex": true}]', "Entry 1 .* regular expression"),
        ('[{"src": "罗德", "dst": "R", "colour": 1}]', "unknown field 'colour'"),
        ('[{"src": "罗德", "dst": 5}]', "dst is 5"),
        ("[1]", "not an object"),
        ('[{"src": "罗德",\n', "Line 2 .* not JSON"),
        ('{"format": "ape-names", "entities": [{"id": "1", "colour": 1}]}', "entities.0"),
        ('{"entities": [{"id": "1", "regex": "a", "source_forms": []}]}', "regular expression"),
        ('{"source_language": "en", "target_language": "zh", "entities": []}', "swapped"),
        ('{"source_language": "fr", "target_language": "en", "entities": []}', "French to English"),
        ("<tbx>", "not valid XML"),
        ("<tbx></tbx>", "no terms"),
        ('<!DOCTYPE t [<!ENTITY a "aaaa">]><tbx>&a;</tbx>', "entity, which is refused"),
        ('<tbx><conceptEntry><langSec xml:lang="fr"/></conceptEntry></tbx>', "no terms in 'zh'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_names(text, "names", source_language="zh", target_language="en")
    assert caught.value.field == "names"


def test_more_names_than_a_book_has_are_refused() -> None:
    table = "source,target\n" + "".join(f"Nom{n},Name{n}\n" for n in range(MAX_NAMES + 1))
    with pytest.raises(InputError, match="20,001 names; the limit is 20,000"):
        parse_names(table, "names.csv")


@pytest.mark.parametrize("field", ["source", "target", "short forms", "variants"])
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Rho\nde", r"U\+000A"),
        ("Rho\x1b[31mde", r"U\+001B"),
        ("Rho\u2028de", r"U\+2028"),
        ("\u202eedohR", r"U\+202E"),
        ("Rho⟦1⟧de", "⟦1⟧, a mark of formatting"),
    ],
    ids=["line break", "terminal control", "line separator", "writing turned round", "mark"],
)
def test_a_name_with_what_is_no_text_is_refused_in_any_field(field: str, text: str, named: str) -> None:
    row = {"source": "罗德", "target": "Rhode", "short forms": "Rho", "variants": "Rhodes", field: text}
    content = ",".join(row) + "\n" + ",".join(f'"{cell}"' for cell in row.values()) + "\n"
    with pytest.raises(InputError, match=f"Line 2 of names: .*{named}"):
        parse_names(content, "names")


def test_a_mark_inside_a_name_of_json_and_xml_is_refused_too() -> None:
    for text in ('{"罗德": "Rho\\ud800de"}', "罗德->Rho⟦/1⟧de\n"):
        with pytest.raises(InputError, match="Remove it"):
            parse_names(text, "names")


@pytest.mark.parametrize("text", ["# a comment alone", "// one\n# two\n"])
def test_a_list_of_comments_has_no_entries(text: str) -> None:
    with pytest.raises(InputError, match=r"names\.txt is empty"):
        parse_names(text, "names.txt")


def test_a_heading_of_many_equal_columns_is_refused_in_linear_time() -> None:
    def read(size: int) -> None:
        with pytest.raises(InputError, match="two columns 'source'"):
            parse_names("source,target" + ",source" * size + "\na,b\n", "names.csv")

    assert_linear(read, 5_000)


def test_a_term_base_that_declares_attributes_is_refused() -> None:
    declared = '<!DOCTYPE tbx [<!ATTLIST term a CDATA "x">]>'
    with pytest.raises(InputError, match=r"Line 1 of names.tbx: it declares an attribute"):
        parse_names(f"{declared}<tbx/>", "names.tbx")


def test_a_term_base_of_many_languages_is_refused_with_a_short_message() -> None:
    entries = "".join(f'<conceptEntry><langSec xml:lang="a{n}"/></conceptEntry>' for n in range(5_000))
    with pytest.raises(InputError, match="no terms in 'fr'") as refused:
        parse_names(f"<tbx>{entries}</tbx>", "names.tbx", source_language="fr", target_language="en")
    assert len(str(refused.value)) < 1_000


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_bytes("罗德,Rhode\n".encode("gb18030"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_names(tmp_path / "names.csv")


def test_an_unknown_suffix_is_refused_before_writing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tells no format"):
        write_names(LEDGER, tmp_path / "names.docx")
    assert not list(tmp_path.iterdir())


def test_every_suffix_belongs_to_one_format() -> None:
    suffixes = [suffix for known in NAME_FORMATS.values() for suffix in known.suffixes]
    assert len(suffixes) == len(set(suffixes))
