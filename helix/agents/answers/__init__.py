"""Answers: reads what planners, explorers and builders are asked and answer; never fails on a malformed one."""
