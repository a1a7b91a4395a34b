"""Wire shapes that the API and the dashboard's explorer share: what a call answers.

Must not be here: who may read, what is asked for, or the bytes.
"""
