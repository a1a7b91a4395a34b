"""Operations of lab testing: every change to its data."""
