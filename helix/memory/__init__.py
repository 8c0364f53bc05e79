"""The life of a memory: written, compared, contradicted, extracted from episodes, scored, erased."""
