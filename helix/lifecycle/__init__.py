"""The write path over time: intake, consolidation, curation, feedback and decay."""
