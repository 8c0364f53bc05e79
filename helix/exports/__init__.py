"""Exports: writes what a store holds in forms that people and other tools read."""
