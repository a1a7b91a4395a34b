"""Operations of lab report parsing and review."""
