"""Truth: the same thing, a refinement, a contradiction, a gap, a failure that recurs."""
