"""Each field of a received message that is read. Tests compare it with the readers.

Usage: R without which the message is refused; H without which, or in doubt of which, a
line is held; O read where it is sent.
"""

from __future__ import annotations

from labs.gateways.hl7.profile.fields import parse_profile

_RECEIVED = """
MSH-7|Time of message|O|Its UTC offset holds for times without one
MSH-9|Message type|R|ORU^R01; ORU alone as well
MSH-10|Control ID|R|Returned in MSA-2
MSH-11|Processing ID|O|Production takes P only|0103
MSH-12|Version|O|2 and any minor version
MSH-18|Character set|O|The first that fits; UTF-8 or Windows-1252 where empty|0211
PID-5|Name|O|Must agree with the order, or the report is held
PID-7|Date of birth|O|Must agree with the order, or the report is held
PID-8|Sex|O|Must not contradict the order|0001
ORC-2|Placer order number|O|The order's sample ID or ID
ORC-3|Filler order number|O|Finds later results of the order
ORC-4|Placer group number|O|As ORC-2
ORC-8|Parent|O|Joins a test that the lab added
OBR-2|Placer order number|O|As ORC-2
OBR-3|Filler order number|O|As ORC-3
OBR-4|Test|H|Code, name or LOINC (LN) in either triplet; the name is enough
OBR-7|Collected at|O|
OBR-13|Clinical information|O|Stored with the sample
OBR-14|Received at|O|
OBR-22|Reported at|O|
OBR-25|Status|O|F, C and X: nothing more follows. Status of an OBX with an empty \
OBX-11 if F, C, P or R|0123
OBR-29|Parent|O|As ORC-8
OBX-2|Type|H|May be empty for a value of one part. ED and RP are documents|0125
OBX-3|Result|H|Code, name or LOINC (LN) in either triplet
OBX-4|Sub-ID|O|Distinguishes repeated results; parts are joined by a period
OBX-5|Value|H|Each repetition is a line. Held: NM of several parts, SN of another \
form, two values of one result
OBX-6|Unit|H|Code or text. Held: a number, or several units
OBX-7|Reference range|O|
OBX-8|Flags|O|Critical ones start the clock, also on held lines|0078
OBX-11|Status|H|The segment may not end before it|0085
OBX-14|Observed at|O|
OBX-15|Laboratory|O|Name, if OBX-23 is empty
OBX-23|Laboratory|O|
OBX-29|Observation type|O|RSLT: a result, though behind its specimen
NTE-3|Note|O|Of the patient, order, test, result or sample before it
SPM-2|Sample number|O|Finds the order
SPM-17|Collected at|O|
SPM-18|Received at|O|
"""

_ANSWERS = """
MSH-9|Message type|R|ACK, ORL or ORR, with any event
MSA-1|Acknowledgement code|R|AA or CA accepts; AE, CE, AR and CR reject|0008
MSA-2|Control ID|R|MSH-10 of the message that is answered
MSA-6|Error|O|As ERR-3, of versions before 2.4|0357
ERR-1|Error|O|Its fourth component as ERR-3, of versions before 2.5|0357
ERR-3|Error code|O|With AR or CR: empty, 206 or 207 repeats the message later|0357
ORC-1|Order control|O|UA, UC and OC: the order is shown to staff, though its \
message was accepted|0119
"""

RECEIVED_PROFILE = parse_profile(_RECEIVED)
ANSWERS_PROFILE = parse_profile(_ANSWERS)
