"""Classifies texts at the start of a line that are not test names.

Vocabulary of administrative lines, categories of explanation tables, methods,
sections and openings of prose. Judges text alone, never position.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reports.parser.report import SampleType
from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.word_lists import read_word_lists

_ADMINISTRATIVE = re.compile(
    r"""(?x)
    ^ (?: (?:patient |pt(?=\s(?:name |id |no |dob |sex |age |gender |ref |loc |class
    |type)) |client |customer |referr?(?:ed |ing)? |ref |requesting |ordering
    |consult\w* |attending |treating |primary)\b (?!\s(?:range |interval |value |time
    |plasma)) .* | (?:full\s |first\s |last\s |sur)?name(?:\s.*)? | (?:mr |mrs |ms
    |miss |dr |prof |shri |smt |master |baby)\s.* | age(?:\s.*)? | sex(?!\shorm).* |
    gender.* | dob | d\so\sb.* | date.* | birth.* | born.* | time\b.* | (?:sample
    |specimen)(?:\s(?:id |no |number |type |date |collect\w* |receiv\w* |drawn
    |rejected |quality |condition |status |source |ref |nature |details |information
    |processed |coll |received |on))?\b (?:\s(?:at |on |date |time |by |from |id
    |no).*)? | (?:collect(?:ed |ion) |receiv(?:ed |ing) |report(?:ed |ing)?
    |register(?:ed)? |registration |approv(?:ed |al) |print(?:ed)? |drawn
    |releas(?:ed)? |authori[sz]ed |verified |issued |accession\w* |order(?:ed)?
    |request(?:ed)? |received |booked |billed |bill(?:ing)? |invoice |receipt
    |validated |dispatched |signed)\b.* | (?:lab |laboratory |regn? |reg |case |file
    |account |acct |acc |client |order |request |bill |visit |episode |encounter
    |hospital |health |medical |national |nhs |passport |emirates |policy |member
    |insurance |mobile |phone |contact |ip |op |opd |ipd |uhid |mrn |mrd |umr |vid |pid
    |sid |lid |sin |srf |crn |cr |centre |center |branch |unit |barcode |bar\scode
    |room |ward |bed |floor |page |tel |telephone |fax |email |e\smail |website |web
    |zip |postal |pin |ssn |clia |npi |cap |nabl |gst\w* |iban |vat |cin |license
    |licence |ico |requisition |manifest |version |form |doc |document |protocol)
    \s?(?:id |ids |no |nos |nr |num |number |code |director |accreditation |certificate
    |name |type |status |ref |reference |details |address |of |sheet |card |phone
    |contact |license |licence |registration |class |\d+)\b.* | page | page\s\d.* |
    seite.* | pagina.* | tel | phone.* | fax | mobile.* | e\s?mail.* | website.* |
    www.* | http.* | address.* | city | state | country | street.* | p\s?o\sbox.* |
    barcode.* | uhid.* | mrn.* | status | report\s.* | final\s?report.* |
    end\sof\sreport.* | printed.* | doctor.* | physician.* | provider.* | pathologist.*
    | signature.* | consultant.* | technician.* | technologist.* | hospital.* |
    clinic\s.* | branch.* | department.* | (?:height |weight |bmi |body\smass\sindex
    |blood\spressure |bp |pulse |heart\srate |temperature |spo2 |waist |hip |vr |pr
    |qrs |qt |qtc)(?:\s.*)? | fasting(?:\sstatus)? | panel\scode | total\samount.* |
    amount.* | grand\stotal.* | sub\s?total.* | net\s.* | discount.* | paid.* |
    balance.* | price.* | qty.* | tax(?:es |able)?(?:[^a-z].*)? | cgst.* | sgst.* |
    igst.* | vat\b.* | cash.* | card\s.* | change\sdue | geburtsdatum.* | eingang.* |
    ausgang.* | auftrag.* | patientin.* | alter | geschlecht | einsender.* |
    befund(?:datum |nr |nummer).* | fecha.* | edad | sexo | paciente.* | medico.* |
    nombre.* | nome.* | data\s(?:de |da |di |del).* | idade | medecin.* | prescri.* |
    nom | prenom | ne\sle | nee\sle | date\sde.* | adresse.* | telefon.* | telefono.* |
    protokol.* | hasta.* | tarih.* | barkod.* | (?:tab |tabs |tablets? |cap |caps
    |capsules? |inj |injection |syp |syr |syrup |oint |ointment |drops |cream |inhaler
    |rx)\s.* | o\se\s.* | q\s?risk.* | frax.* | .*\brisk\sscore | .*\bbody\s(?:weight
    |height) | hours?\s.* | kit\s(?:lot |name |no).* | lot\s.* | expiry.* | batch.* |
    reg\sdate.* | s\sno | sl\sno | sr\sno | score\s.* | accreditation.* | iso\s\d+.* |
    copyright.* | tests?\sordered.* | comments?.* | remarks?.* | notes?.* | advice.* )
    $"""
)

_CATEGORY = re.compile(
    r"""(?x)
    ^ (?: (?:near\s |above\s |sub |super |very\s |moderately\s |mildly\s |severely\s
    |extremely\s |border\s?line\s |ultra\s? |slightly\s)* (?:normal |abnormal
    |desirable |desired |optimal |optimum |ideal |border\s?line |high |low |elevated
    |acceptable |deficien\w* |insufficien\w* |sufficien\w* |toxic\w* |intoxication
    |diabet\w* |pre\s?diabet\w* |non\s?diabet\w* |healthy |adults? |child(?:ren)?
    |infants? |newborns? |neonates? |males? |females? |men |women |boys? |girls?
    |pregnan\w* |non\s?pregnant |menopaus\w* |post\s?menopaus\w* |pre\s?menopaus\w*
    |follicular |luteal |mid\s?cycle |ovulat\w* |midcycle |cyclic |castrat\w* |puberty
    |tanner\w* |risk |average |negative |positive |equivocal |indeterminate |reactive
    |non\s?reactive |mild |moderate |severe |therapeutic |critical |goal |target
    |excellent |good |fair |poor |action |underweight |overweight |obes\w* |smokers?
    |non\s?smokers? |elderly |hypoglyc\w* |hyperglyc\w* |euthyroid |hypothyroid\w*
    |hyperthyroid\w* |prediabetes |lethal |fatal |coma |kidney\sfailure |all\sages
    |peak |trough |secondary\sprevention |primary\sprevention |decreased |increased)
    (?:\s(?:range |risk |level |levels |value |values |high |low |normal |limit |limits
    |control |phase |diabetes |prediabetes |adults? |males? |females? |men |women
    |individuals? |population |subjects? |persons? |people |patients? |children |to\s.*
    |or\s.* |and\s.* |of\s.* |for\s.* |with\s.* |at\s.* |in\s.* |reactive |years? |yrs?
    |deficien\w* |border\s?line |decrease |increase |function |heart\srisk |coronary.*
    |gfr |egfr |albuminuria |range |concentration |optimal |desirable |risk |trimester
    |status |\d+.*))* | (?:stage |grade |class |category |g |ckd |risk |level |phase
    |type)\s?(?:[1-5][ab]? |[ivx]+[ab]?)(?:\s.*)? | (?:first |second |third |1st |2nd
    |3rd |i |ii |iii)\s(?:trimester |trim |trimestre).* | trimester.* | trim\s.* |
    (?:\d+\s)?\d+\s?(?:to\s\d+\s?)?(?:years? |yrs? |y |yo |months? |mos? |m |weeks?
    |wks? |days? |d |jahre |anos |ans)\b.* | (?:\d+\s)?\d+\s?(?:to\s\d+\s?)?(?:hours?
    |hrs?)\b (?!\s(?:post |pp |ppbs |after |urin\w* |gluc\w* |plasma |serum |blood
    |creat\w* |protein)\b).* | (?:up\sto |less\sthan |more\sthan |greater\sthan |over
    |under |above |below |between |from |age[ds]? |upto |aged)\s.* | (?:half |average
    |twice |two\stimes |double |three\stimes |triple |1\s2 |2\stimes |3\stimes |1x |2x
    |3x)\s(?:the\s)?average.* | chd\srisk.* | atp\s.* | ncep.* | ada\b.* | who\b.* |
    esc\b.* | aha\b.* | kdigo.* | nlai?\b.* | idf\b.* | iap.* | age\sgroup.* | risk\s.*
    | (?:no |low |minimal |very\slow |intermediate |increased |high |very\shigh
    |extreme)\s.*risk.* | .*\b(?:goals? |targets? |cut\s?offs?)\b.* |
    .*\brisk\s(?:group |category |factor)s? | goals?\s.* | target\s.* | category.* |
    interpretation.* | classification.* | references?\b.* | cut\s?off.* | reference\s.*
    | normal\s(?!forms |morphology).* | therapeutic\srange.* | toxic\srange.* |
    cord\sblood.* | cord | (?:ldl |hdl |tg |cholesterol |hba1c |a1c |egfr |gfr |bnp
    |nt\sprobnp |level |levels |value |values |result |results)\s(?:goal |target |level
    |levels |value |range |ranges |band |bands)s? | excellent\scontrol |good\scontrol
    |fair\scontrol |poor\scontrol |control |with\s.* |without\s.* |if\s.*
    |patients?\s(?:with |who |on |in |at |having |aged |under |over |for)\b.* | \d+ |
    [ivx]+ ) $"""
)

_OPENING = re.compile(
    r"""(?ix)
    ^ \W* (?: interpretations?\b | catatan\b | keterangan\b | kriteria\b |
    ziel(?:werte? |bereich)\w*\b | interpretive | interpretative | comments?\b |
    notes?\b | clinical\s+(?:significance |notes? |utility |use |background
    |correlation |implication |information |interpretation) | remarks?\b |
    references?\s*:? $ | reference\s*:\s | explanation | advi[cs]e\b | recommend\w* |
    guidelines? | limitations? | disclaimer | method(?:ology)?\s+(?:note |description)
    | the\s+(?:above |following |result |test |reference |table) | this\s+(?:test
    |assay |result |method) | these\s+(?:tests? |results? |values?) | as\s+per\b |
    according\s+to | based\s+on | (?:american |national |european |international
    |indian |world)\s+(?:diabetes |cholesterol |society |heart |health |lipid |kidney
    |association |osteoporosis) | increased\s+(?:in |levels?) | decreased\s+(?:in
    |levels?) | elevated\s+(?:in |levels?) | causes?\s+of | uses?\s*: | summary\s*:? |
    explanatory | significance | association\s+of | (?:risk |diagnostic |therapeutic
    |treatment |decision |target)\s+(?:categor\w+ |groups? |criteria |stratification
    |goals? |limits? |levels? |classification) | (?:(?:expected
    |suggested)\s+)?(?:reference |normal |therapeutic |cut[\s-]?off)\s+(?:ranges?
    |values? |intervals?)\s+(?:for |in |by |of |during |as)\b | hinweise?\b | kommentar
    | bemerkung | beurteilung | nota\b | notas\b | observaciones | interpretaci[oó]n |
    commentaires? | interpr[eé]tation | yorum | observa[cç][oõ]es | classification\b |
    stages?\s+of | goals?\s+(?:by |of |for |in)\b | ckd\s+stag\w+(?!\s+g?\d) | (?:age
    |trimester |category |weeks?)\s+(?:group |wise |based) | bibliograph\w+ |
    literature | sources?\s*: | tariffs?\b | (?:price |fee)\s+list | charges\b |
    vital\s+signs | assessment\s*: | impression\s*: | plan\s*: | medications?\s*: |
    important | please\s+note | kindly | nb\s*: | n\.b | \*\s*note | correlate |
    when\s+to | who\s+should | what\s+(?:is |does |are) | why\s+ | about\s+(?:this |the
    |your) | biological\s+(?:variation |reference)\s+.*\b(?:for |based)\b |
    conditions?\s+of | test\s+(?:attributes |usage |information |details) )"""
)

_EXPLANATION_TITLES = frozenset(read_word_lists("words.txt")["explanation titles"])

_METHOD = re.compile(
    r"""(?ix)
    ^ [(\[*{\s]* (?: (?:m[eé]thod(?:ology |e)?s? |m[eé]todo |techn(?:ique |ology)
    |instrument |principle |verfahren)\s*[:-].* | method(?:ology |e)?s?\b |
    tech(?:nique)?\b | metodo\b | instrument\b | (?:by |via)\s+\w+ | spectro\w* |
    photomet\w* | colou?rimet\w* | (?:\w+[\s,-]+){0,2}(?:\w+[\s,-]*)? (?:hplc |clia
    |eclia |elisa |cmia |ria |ifcc |turbidimet\w* |nephelomet\w* |immuno\s?assay
    |immuno\w+ |enzymati(?:c |que |co |sch) |kineti(?:c |sch) |cin[eé]ti(?:que |co)
    |god[\s/-]*pod |chod |gpo |uricase |urease |biuret |jaffe\w* |bcg |diazo |impedance
    |flow\s?cytomet\w* |cytochem\w* |electrical |calculat\w* |calculation |computed
    |derived |ise |ion[\s-]selective |potentiomet\w* |microscop\w* |westergren
    |wintrobe |chemiluminesc\w* |electro\s?chem\w* |hexokinase |arsenazo |molybdate
    |ferrozine |tptz |glycerol\w* |peroxidase |dipstick |reflectance |reagent\s?strip
    |agglutination |coagulomet\w* |clotting |photo[\s-]?optical |sls |dha |vcs
    |automated |manual |direct |indirect |homogen\w* |elimination |selective
    |precipitation |chromatograph\w* |lc[\s-]?ms\S* |pcr |capillary |optical |sheath
    |focusing |endpoint |end\s?point |bichromatic |visual) (?:[\s,/&()+-]+\w+){0,5} )
    [)\]\s.}]* $"""
)

_SPECIMENS: tuple[tuple[re.Pattern[str], SampleType], ...] = (
    (
        re.compile(
            r"\b(?:urines?|urinalysis|urinary|orina|urin|urina|idrar|\w*harn"
            r"|harn(?:status|analyse|untersuchung|streifen|sediment)\w*|mocz\w*|urine\w*"
            r"|uroanalisis|uranalysis)\b"
        ),
        SampleType.URINE,
    ),
    (
        re.compile(
            r"\b(?:stools?|faec\w+|fec(?:es|al)|heces|stuhl|selles|fezes|feci|gaita)\b"
        ),
        SampleType.STOOL,
    ),
    (re.compile(r"\b(?:saliva|salivary|speichel)\b"), SampleType.SALIVA),
    (
        re.compile(r"\b(?:capillary|finger\s?prick|dried\sblood)\b"),
        SampleType.CAPILLARY_BLOOD,
    ),
    (
        re.compile(
            r"\b(?:csf|cerebrospinal|semen|seminal|sputum|pleural|ascitic|synovial"
            r"|swab|amniotic|body\sfluid)\b"
        ),
        SampleType.OTHER,
    ),
    (
        re.compile(
            r"\b(?:serum|plasma|blood|edta|whole\sblood|sang|sangre|sangue|blut"
            r"|kan|haematology|hematology|haemogram|hemogram|cbc|fluoride)\b"
        ),
        SampleType.BLOOD,
    ),
)

_WORD = re.compile(r"[^\W\d_]{2,}")


@lru_cache(maxsize=8192)
def is_administrative_line(name: str) -> bool:
    """Return whether a line is about the patient, the order or the lab."""
    return bool(_ADMINISTRATIVE.match(normalize_letters_and_digits(name)))


@lru_cache(maxsize=8192)
def is_category_label(name: str) -> bool:
    """Return whether a name is of an explanation table: Borderline, Stage 2, Adults."""
    return bool(_CATEGORY.match(normalize_letters_and_digits(name)))


@lru_cache(maxsize=8192)
def starts_explanation_section(text: str) -> bool:
    """Return whether a line begins an explanation: Interpretation, Note, References."""
    return bool(_OPENING.match(text))


def is_explanation_table_title(text: str) -> bool:
    """Return whether titles are of an explanation table: Category, Risk, Stage, Age."""
    words = normalize_letters_and_digits(text).split()
    hits = sum(1 for word in words if word in _EXPLANATION_TITLES)
    return 0 < len(words) <= 12 and hits >= max(1, len(words) // 4)


@lru_cache(maxsize=8192)
def is_test_method(text: str) -> bool:
    """Return whether a text names how a test was done."""
    return bool(_METHOD.match(text))


@lru_cache(maxsize=2048)
def find_specimen_in_text(text: str) -> SampleType | None:
    """Return the specimen that a header or a cell names, None if it names none."""
    folded = normalize_letters_and_digits(text)
    for pattern, kind in _SPECIMENS:
        if pattern.search(folded):
            return kind
    return None


def names_both_blood_and_urine(text: str) -> bool:
    """Return whether a header names blood and urine, as one over two tables does."""
    folded = normalize_letters_and_digits(text)
    kinds = {kind for pattern, kind in _SPECIMENS if pattern.search(folded)}
    return kinds >= {SampleType.BLOOD, SampleType.URINE}


def has_letters(text: str) -> bool:
    """Return whether any character is a letter."""
    return any(sign.isalpha() for sign in text)


def is_prose(text: str) -> bool:
    """Return whether a text is a sentence or part of one: many words in lower case."""
    words = text.split()
    if len(words) < 7:
        return False
    lower = sum(1 for word in words if word[:1].islower() and _WORD.search(word))
    return lower >= 0.5 * len(words)
