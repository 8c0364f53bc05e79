"""The commands that look at the graph as a graph, against a real daemon."""

from __future__ import annotations

from itertools import pairwise

from command_line import Command


def test_what_is_near_a_path_what_hangs_together_and_what_is_central(helix_command: Command) -> None:
    names = []
    for word in ("anvil", "bellows", "crane"):
        stored = helix_command("store", f"The {word} stands in hall {word}. It is so.", "--json")
        names.append(stored.data["store"]["name"])
    for one, other in pairwise(names):
        assert helix_command("edge", one, other, "--relation", "depends_on").code == 0
    near = helix_command("graph", "near", names[0], "--steps", "2")
    assert near.code == 0, near.err
    assert all(name in near.out for name in names[1:])
    back = helix_command("graph", "path", names[2], names[0])
    assert back.out.splitlines()[0].startswith(names[2])
    assert back.out.count("<-DEPENDS_ON-") == 2
    assert helix_command("graph", "path", names[0], names[2]).out.count("-DEPENDS_ON->") == 2
    # The daemon is that of other tests, too: theirs may be larger, and more central.
    found = helix_command("graph", "communities", "--least", "2", "--limit", "200", "--json").data["communities"]
    assert {node["title"] for one in found for node in one["nodes"]} >= set(names)
    ranked = helix_command("graph", "central", "--label", "memory", "--limit", "200", "--json").data["centrality"]
    ours = [one["node"]["title"] for one in ranked if one["node"]["title"] in names]
    assert len(ours) == 3
    assert ours[0] == names[1]
    assert helix_command("graph", "near", "nobody").code != 0
