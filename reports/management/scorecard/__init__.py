"""How good the parser's answers are: truth, marks, calibration and their table.

Stands at the edge beside the command that prints it (`manage.py parser_score`), as
nothing else in production may need it; tests count with the same code. The parser
knows nothing of it.
"""
