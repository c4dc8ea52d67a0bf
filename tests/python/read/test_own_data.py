# SPDX-License-Identifier: Apache-2.0
"""The small files of tests/data, made by tests/data/make.py: the same comparison as the corpus, always there."""

import json

import harness
import pytest
from corpus_facts import Facts

DATA = harness.ROOT / "tests/data"
FACTS = json.loads((DATA / "facts.json").read_text())


@pytest.mark.parametrize("name", list(FACTS))
def test_equals_gdal(name, tmp_path):
    facts = Facts(name, FACTS[name], tmp_path, root=DATA)
    facts.check()
    found = [f"{facet}: {text}" for facet, texts in facts.differences.items() for text in texts]
    assert not found, "\n".join(found)


def test_set_is_small():
    assert sum(path.stat().st_size for path in DATA.iterdir() if path.is_file()) < 200_000


def test_every_file_has_facts():
    assert sorted(FACTS) == sorted(path.name for path in DATA.glob("*.tif"))
