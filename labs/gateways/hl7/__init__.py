"""The gateway of labs that exchange HL7 v2.5.1 files in a folder.

`messages` reads and writes the text, `results` what an ORU^R01 says, `orders` writes
OML^O21, `acknowledgements` answers, `drop` is the folder, `lab` the gateway. Must not
be here: which order a result belongs to (operations.inbound).
"""
