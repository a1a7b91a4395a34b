"""Each field that is sent: usage, content and table. A test compares it with messages.

Usage: R always, RE where Assay knows it, C by a condition.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProfileField:
    """A field of a segment; `table` is of HL7 v2.5.1, empty without one."""

    segment: str
    number: int
    name: str
    usage: str
    content: str
    table: str = ""


_PATIENT = """
PID-1|Set ID|R|1
PID-5|Name|R|Family and given name, type L|0200
PID-7|Date of birth|R|YYYYMMDD
PID-8|Sex|R|F, M, O or U|0001
PID-10|Race|RE|Code, text, HL70005|0005
PID-11|Address|RE|Country of three letters; any other text in XAD.8|0399
PID-13|Telephone and e-mail|RE|XTN.1 as entered, a US number also in XTN.5 to 7; \
e-mail as a repetition (NET)|0201, 0202
PID-22|Ethnicity|RE|H or N; others as text|0189
PV1-1|Set ID|R|1
PV1-2|Patient class|R|O (outpatient)|0004
"""
_HEADER = """
MSH-3|Sending application|R|ASSAY
MSH-7|Time of message|R|To the second, UTC
MSH-10|Control ID|R|{control}
MSH-11|Processing ID|R|P in production, T in the sandbox|0103
MSH-12|Version|R|2.5.1|0104
MSH-18|Character set|R|UNICODE UTF-8|0211
"""
_ORDER = (
    _HEADER.format(
        control="NW or CA with the sample ID; .2, .3 and on for further messages of one"
        " order. The same in each repetition"
    )
    + """
MSH-4|Sending facility|R|Account number at the lab
MSH-5|Receiving application|R|Lab's slug, at most 20 characters
MSH-6|Receiving facility|R|Lab's name, at most 20 characters
MSH-9|Message type|R|OML^O21^OML_O21|0076, 0003, 0354
PID-3|Patient ID|R|Assay's user ID (ASSAY, PI)|0203
"""
    + _PATIENT
    + """
PV1-20|Financial class|R|Who pays: C client, T third party, P patient|site's own
IN1-1|Set ID|R|1
IN1-2|Insurance plan|R|Payer's code and the billing type
IN1-3|Insurance company|R|Payer's code, or "" if the order has none
IN1-16|Insured's name|RE|Family and given name
IN1-17|Insured's relationship|RE|SEL, SPO or OTH|0063
IN1-18|Insured's date of birth|RE|If the insured is the patient
IN1-19|Insured's address|RE|As PID-11
IN1-36|Policy number|RE|Member ID
IN1-43|Insured's sex|RE|If the insured is the patient|0001
IN1-47|Who pays|C|C, T or P, only if the lab account asks for it|site's own
IN2-63|Insured's telephone|RE|As PID-13
GT1-1|Set ID|R|1
GT1-3|Guarantor's name|R|The insured, or who pays for the patient
GT1-5|Guarantor's address|RE|As PID-11
GT1-6|Guarantor's telephone|RE|As PID-13
GT1-8|Guarantor's date of birth|RE|If the guarantor is the patient
GT1-9|Guarantor's sex|RE|If the guarantor is the patient|0001
GT1-11|Guarantor's relationship|RE|SEL, SPO or OTH|0063
ORC-1|Order control|R|NW new, CA cancel|0119
ORC-2|Placer order number|R|Sample ID, the same for all tests
ORC-4|Placer group number|R|Sample ID
ORC-9|Time of order|R|To the second, UTC
ORC-12|Ordering provider|RE|NPI and name
ORC-21|Ordering facility|R|Team's name
TQ1-1|Set ID|R|1
TQ1-9|Priority|R|S stat, R routine|0485
OBR-1|Set ID|R|From 1
OBR-2|Placer order number|R|As ORC-2
OBR-4|Test|R|Lab's code and name, L
OBR-11|Specimen action|R|P: sample follows; L: the lab collects it|0065
OBR-16|Ordering provider|RE|As ORC-12
NTE-1|Set ID|R|From 1
NTE-2|Source|R|P|0105
NTE-3|Comment|R|A line of the comment that the requisition prints
DG1-1|Set ID|R|From 1
DG1-3|Diagnosis|R|ICD-10-CM code, I10|0396
DG1-6|Type|R|W (working)|0052
OBX-1|Set ID|R|From 1
OBX-2|Value type|R|NM, ST or TX|0125
OBX-3|Order entry question|R|Lab's code and text, L
OBX-5|Answer|R|Choices by their code
OBX-11|Status|R|O (order detail)|0085
SPM-1|Set ID|R|1
SPM-2|Specimen ID|R|Sample ID
SPM-4|Specimen type|R|By the test's tube|0487
BLG-2|Charge type|C|CH, unless the client pays|0122
BLG-3|Account|C|Account number at the lab, if the client pays
"""
)
_RESULTS = (
    _HEADER.format(control="Its own for each message; the same in each repetition")
    + """
MSH-4|Sending facility|R|Lab's slug, at most 20 characters
MSH-6|Receiving facility|R|Team's slug, at most 20 characters
MSH-9|Message type|R|ORU^R01^ORU_R01|0076, 0003, 0354
PID-3|Patient IDs|R|Your ID of the user (namespace: team), then Assay's (ASSAY)|0203
"""
    + _PATIENT
    + """
ORC-1|Order control|R|RE|0119
ORC-2|Placer order number|R|Assay's order ID
ORC-3|Filler order number|R|Sample ID, dot, lab's code of the test
ORC-5|Order status|R|A: partial; CM: final|0038
OBR-1|Set ID|R|From 1
OBR-2|Placer order number|R|As ORC-2
OBR-3|Filler order number|R|As ORC-3; the same in each correction
OBR-4|Test|R|Lab's code and name, L; LOINC 11502-2 for a document
OBR-7|Collected at|RE|To the second, UTC
OBR-14|Received at|RE|To the second, UTC
OBR-16|Ordering provider|RE|NPI and name
OBR-22|Reported at|R|To the second, UTC
OBR-25|Status|R|A some results, P preliminary, F final, C corrected, X not possible|0123
OBX-1|Set ID|R|From 1
OBX-2|Value type|C|NM, SN, ST or TX (a line each repetition); ED for a PDF|0125
OBX-3|Result|R|LOINC and the lab's code, or the one that is known
OBX-4|Sub-ID|RE|Distinguishes repeated results; the same in each correction
OBX-5|Value|C|As the lab wrote it; a PDF in Base64
OBX-6|Unit|RE|As the lab wrote it
OBX-7|Reference range|RE|As the lab wrote it; long ones in a note
OBX-8|Abnormal flags|RE|The lab's, or what the interpretation says|0078
OBX-11|Status|R|F, P, C, X not possible, D withdrawn|0085
OBX-14|Observed at|RE|To the second, UTC
OBX-23|Performing laboratory|RE|Name and CLIA number
NTE-1|Set ID|R|From 1
NTE-2|Source|R|L|0105
NTE-3|Note|R|A line of the lab's note
SPM-1|Set ID|R|From 1
SPM-2|Specimen ID|R|As the lab gave it
SPM-4|Specimen type|R|By the test's tube, or "" if unknown|0487
SPM-17|Collected at|RE|To the second, UTC
SPM-18|Received at|RE|To the second, UTC
"""
)

_CATALOGUE = (
    _HEADER.format(control="Event, moment and number of the message")
    + """
MSH-4|Sending facility|R|Lab's slug; a message for another lab is refused
MSH-9|Message type|R|MFN^M08^MFN_M08 or MFN^M10^MFN_M10|0076, 0003, 0354
MFI-1|Master file|R|OMA with M08, OMC with M10; any other is refused|0175
MFI-3|File-level event|R|UPD|0178
MFI-5|Effective time|R|To the second, UTC; not read
MFI-6|Response level|R|NE|0179
MFE-1|Record-level event|R|MUP; MDC for a retired test. Read: MAD, MUP and MAC, \
MDC and MDL|0180
MFE-2|Record ID|R|From 1; not read
MFE-4|Primary key|R|Lab's code and name of the test, L
MFE-5|Type of the key|R|CE|0355
OM1-1|Sequence number|R|From 1; not read
OM1-2|Test|R|As MFE-4. Read as the result too where OM1-7 is empty
OM1-3|Type of value|C|M08: NM, SN, TX or CE. Read: ST, FT, CWE and CNE too|0125
OM1-4|Specimen required|R|Y; not read|0136
OM1-5|Producer|R|Lab's slug and name, L; not read
OM1-6|Description|RE|Text
OM1-7|Result|C|M08: lab's code and name, L, and LOINC, LN
OM1-8|Other names|R|Name of the test
OM1-12|Can be ordered|R|Y or N|0136
OM1-18|Nature|R|A for M08, P for M10; not read|0174
OM1-23|Typical turnaround|RE|Minutes; read as days, rounded up
OM1-37|Preparation|R|Fasting or No fasting; other texts change nothing
OM2-1|Sequence number|R|As OM1-1; not read
OM2-2|Unit|RE|As the lab writes it
OM2-6|Reference range|RE|Low and high as subcomponents; the first repetition is read
OM5-1|Sequence number|R|As OM1-1; not read
OM5-2|Results of a battery|R|Repeated: lab's code and name, L, and LOINC, LN. Unit, \
range and type are those of the lab's test with this code
OM4-1|Sequence number|R|As OM1-1; not read
OM4-3|Container|RE|A tube of Assay, such as serum_gel
OM4-6|Specimen|R|Code and words. Read: SER, PLAS, BLD, BLDC, SAL, UR, STL|0487
"""
)


def parse_profile(table: str) -> tuple[ProfileField, ...]:
    """Parse lines of place, name, usage, content and table, by segment."""
    found = []
    for line in filter(None, table.splitlines()):
        place, *rest = line.split("|")
        segment, _, number = place.partition("-")
        found.append(ProfileField(segment, int(number), *rest))
    order = list(dict.fromkeys(one.segment for one in found))
    return tuple(sorted(found, key=lambda one: (order.index(one.segment), one.number)))


ORDER_PROFILE = parse_profile(_ORDER)
RESULTS_PROFILE = parse_profile(_RESULTS)
CATALOGUE_PROFILE = parse_profile(_CATALOGUE)
