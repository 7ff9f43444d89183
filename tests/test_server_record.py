"""The record of servers' runs: another sample of replies cannot turn a disproof into a proof."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from server_record import FEW, Outcome, Record, Share, Shares, added, load_record, renewed

from playground.servers.declarations import load_server, proofs

_SLIPS = ("", "as written", "unclosed-section", "doubled-closer")
_OUTCOMES = st.lists(
    st.builds(
        Outcome,
        kind=st.just("cut"),
        text=st.text("ab", max_size=2),
        slip=st.sampled_from(_SLIPS),
        equal=st.booleans(),
    ),
    unique_by=lambda outcome: outcome.text,
    max_size=7,
)


def _disproofs(shares: Shares) -> set[str]:
    return {slip for slip, share in shares.items() if share.differing}


@given(st.lists(_OUTCOMES, max_size=4))
def test_a_run_of_other_replies_takes_no_disproof_back(runs: list[list[Outcome]]) -> None:
    shares: Shares = {"doubled-closer": Share(1, 2)}  # as older runs have it, without the reply
    for run in runs:
        before, shares = shares, added(shares, run)
        found = {each.slip for each in run if each.slip and not each.equal}
        assert _disproofs(shares) == _disproofs(before) | found
        for slip, share in shares.items():
            old = before.get(slip, Share())
            assert share.of == old.of + sum(each.slip == slip for each in run)
            assert share.equal == old.equal + sum(each.slip == slip and each.equal for each in run)


@given(_OUTCOMES, _OUTCOMES)
def test_a_disproof_stays_until_its_counter_example_is_read_alike(
    first: list[Outcome], again: list[Outcome]
) -> None:
    shares = added({}, first)
    ran = {each.key: each for each in again}
    after = renewed(shares, again)
    for slip in _disproofs(shares) - _disproofs(after):
        one = ran[shares[slip].example]
        assert one.equal or one.slip
        assert not one.slip or one.equal or one.slip in _disproofs(after)
    assert {each.slip for each in again if each.slip and not each.equal} <= _disproofs(after)


def test_of_a_slip_without_a_counter_example_few_differences_stay() -> None:
    shares = {"doubled-closer": Share(5, 5 + FEW), "orphan-closer": Share(5, 6 + FEW)}
    alike = [Outcome("cut", slip, slip, equal=True) for slip in (*shares, "as written")]
    assert renewed(shares, alike) == {
        "as written": Share(1, 1),
        "doubled-closer": Share(1, 1 + FEW),
        "orphan-closer": Share(1, 1),
    }


def test_another_version_of_a_server_starts_anew() -> None:
    assert load_record("vllm", "0.0") == Record("0.0")
    record = load_record("vllm", load_server("vllm").version)
    assert record.places.keys() == proofs()["vllm"]["slips"].keys()


def test_every_rare_disproof_of_a_server_whose_samples_are_known_has_its_reply() -> None:
    for server in ("vllm", "sglang"):
        record = load_record(server, load_server(server).version)
        assert record.samples
        for shares in record.places.values():
            for share in shares.values():
                assert (0 < share.differing <= FEW) == bool(share.example)
                assert not share.example or share.example in record.replies
