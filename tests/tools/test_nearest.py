from __future__ import annotations

import random
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.tools.differences import fold, fold_with_origins, name_of, unusual
from agentcli.tools.nearest import explain_missing

TEXT = st.text(st.sampled_from("ab \t\u00a0\u200be\u0301é“…-\u2013\ufeff"), max_size=12)


@settings(deadline=None)
@given(TEXT)
def test_both_ways_to_fold_agree(text: str) -> None:
    folded, origins = fold_with_origins(text)
    assert folded == fold(text)
    assert len(origins) == len(folded) + 1
    assert origins == sorted(origins)


def test_a_big_file_and_a_long_line_are_explained_at_once() -> None:
    rng = random.Random(1)
    words = ["".join(rng.choice("abcdefghij_") for _ in range(rng.randrange(3, 12))) for _ in range(300)]
    lines = [" ".join(rng.choice(words) for _ in range(10)) for _ in range(6_000)]
    started = time.process_time()
    assert "line 5001: `" in explain_missing("\n".join(lines), lines[5000][:-2] + "??")
    assert "No line of the file is like it." in explain_missing("\n".join(lines), "ZZZZ" * 30)
    hint = explain_missing("x" * 20_000 + "\u00a0y" + "z" * 20_000, "x y")
    assert "at column 20001 the file has U+00A0 no-break space, old_string has a space" in hint
    assert time.process_time() - started < 15


def test_characters_have_names() -> None:
    assert [name_of(c) for c in ("", "\t", "x", "\u2019", "\udcff")] == [
        "nothing",
        "a tab",
        "'x'",
        "U+2019 right single quotation mark",
        "the byte 0xff, which is not valid UTF-8",
    ]
    assert unusual("a\u202fb\u202fc") == "U+202F narrow no-break space"
    assert unusual("plain name") == ""
