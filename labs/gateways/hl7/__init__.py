"""The gateway of labs that exchange HL7 v2.5.1 files in a folder.

`messages` parses and writes HL7 text, `results` parses ORU^R01, `orders` writes
OML^O21, `acknowledgements` writes ACKs, `drop` is the folder, `lab` the gateway.
"""
