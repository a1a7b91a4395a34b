"""Packed history: closed days of samples as one row for each user, series and feed.

A sample lies either in its packed day or as a row of `users_sample`, never in both, and
whoever moves or changes any holds the lock of the user's row. Readers ask both tables
in one statement, so that a move in between neither doubles nor hides a sample.
"""
