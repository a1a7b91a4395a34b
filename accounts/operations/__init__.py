"""Operations on teams, members, keys and the audit."""
