"""The lab report parser, a library without Django.

`parsing.parse_report` turns a file into values of `report`. `intake` checks an upload.
Nothing is imported here, so that a caller loads only the stages it names.
"""
