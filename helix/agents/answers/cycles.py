"""Cycles: the tasks of a list that wait for each other, so that none of them can ever begin."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence


def detect_cycles(dependencies: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Return a shortest circle through the first task of every knot of tasks in an answer that wait for each other.

    `dependencies` maps a task to those it waits for. A circle begins with the smallest id of its knot, and each waits
    for the next one, the last for the first. Linear in tasks and dependencies; knots in the order of those ids.
    """
    graph = {task: tuple(dict.fromkeys(waits)) for task, waits in dependencies.items()}
    knots = (knot for knot in _knots(graph) if len(knot) > 1 or knot[0] in graph[knot[0]])
    return [_circle(graph, knot) for knot in sorted(sorted(knot) for knot in knots)]


def _knots(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected components (Tarjan's algorithm, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    knots: list[list[str]] = []
    for root in graph:
        if root in order:
            continue
        path = [(root, iter(graph[root]))]
        while path:
            node, rest = path[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
            step = next((other for other in rest if other not in order or other in on_stack), None)
            if step is not None and step not in order:
                path.append((step, iter(graph.get(step, ()))))
                continue
            if step is not None:
                low[node] = min(low[node], order[step])
                continue
            path.pop()
            if path:
                parent = path[-1][0]
                low[parent] = min(low[parent], low[node])
            if low[node] == order[node]:
                knot = [stack.pop()]
                while knot[-1] != node:
                    knot.append(stack.pop())
                knots.append(knot)
                on_stack.difference_update(knot)
    return [knot for knot in knots if knot[0] in graph]


def _circle(graph: Mapping[str, Sequence[str]], knot: Sequence[str]) -> tuple[str, ...]:
    """Return a shortest circle through the first task of a knot, by breadth-first search within it."""
    start, within = knot[0], set(knot)
    came_from: dict[str, str] = {}
    queue = deque([start])
    while start not in came_from:
        node = queue.popleft()
        for other in graph.get(node, ()):
            if other in within and other not in came_from:
                came_from[other] = node
                queue.append(other)
    circle = [start]
    while (before := came_from[circle[-1]]) != start:
        circle.append(before)
    return (start, *reversed(circle[1:]))
