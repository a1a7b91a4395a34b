"""What a test name says besides its analyte: specimen, share and method.

The words that say so, and the taking apart of a name. Nothing here knows an analyte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .catalogue import normalize_name_text


@dataclass(frozen=True, slots=True)
class Hints:
    """What a name says besides the analyte.

    specimen is a catalogue specimen, share "percent" or "absolute", methods the
    catalogue's method words; is_whole tells whole blood from what is called blood.
    """

    specimen: str | None = None
    share: str | None = None
    methods: frozenset[str] = frozenset()
    is_whole: bool = False


_SPECIMENS: dict[str, str] = {
    "serum": "serum",
    "sr": "serum",
    "ser": "serum",
    "srm": "serum",
    "suero": "serum",
    "soro": "serum",
    "siero": "serum",
    "serici": "serum",
    "surowicy": "serum",
    "osoczu": "serum",
    "plasmatique": "serum",
    "plasmatico": "serum",
    "plasma": "serum",
    "plasmatica": "serum",
    "serica": "serum",
    "serico": "serum",
    "serique": "serum",
    "blood": "blood",
    "wb": "blood",
    "sangre": "blood",
    "sang": "blood",
    "sangue": "blood",
    "blut": "blood",
    "vollblut": "blood",
    "bloed": "blood",
    "krwi": "blood",
    "darah": "blood",
    "kan": "blood",
    "sanguin": "blood",
    "sanguine": "blood",
    "urine": "urine",
    "urinary": "urine",
    "urin": "urine",
    "orina": "urine",
    "urina": "urine",
    "urinaire": "urine",
    "urinaires": "urine",
    "urinario": "urine",
    "urinaria": "urine",
    "harn": "urine",
    "moczu": "urine",
    "idrar": "urine",
    "idrarda": "urine",
    "ur": "urine",
    "uri": "urine",
    "csf": "csf",
    "liquor": "csf",
    "stool": "stool",
    "feces": "stool",
    "faeces": "stool",
    "fecal": "stool",
    "fecale": "stool",
    "heces": "stool",
    "fezes": "stool",
    "feci": "stool",
    "stuhl": "stool",
    "selles": "stool",
    "kale": "stool",
    "gaita": "stool",
    "gaitada": "stool",
    "feses": "stool",
    "faecal": "stool",
    "semen": "semen",
    "seminal": "semen",
    "saliva": "saliva",
    "salivary": "saliva",
    "arterial": "arterial",
    "art": "arterial",
    "venous": "venous",
    "ven": "venous",
    "capillary": "capillary",
    "cord": "cord",
    "umbilical": "cord",
    "fluid": "fluid",
    "pleural": "fluid",
    "ascitic": "fluid",
    "peritoneal": "fluid",
    "synovial": "fluid",
}
_SHARES: dict[str, str] = {
    "%": "percent",
    "percent": "percent",
    "percentage": "percent",
    "pct": "percent",
    "perc": "percent",
    "rel": "percent",
    "relative": "percent",
    "relativ": "percent",
    "relativo": "percent",
    "relativa": "percent",
    "relatif": "percent",
    "prozent": "percent",
    "porcentaje": "percent",
    "#": "absolute",
    "abs": "absolute",
    "absolute": "absolute",
    "absol": "absolute",
    "absolut": "absolute",
    "absolu": "absolute",
    "absolue": "absolute",
    "absoluto": "absolute",
    "absoluta": "absolute",
    "assoluto": "absolute",
    "assoluti": "absolute",
    "absolutos": "absolute",
    "absolutas": "absolute",
    "number": "absolute",
}
_METHODS: dict[str, str] = {
    "direct": "direct",
    "calculated": "calculated",
    "calc": "calculated",
    "cal": "calculated",
    "calculation": "calculated",
    "calcule": "calculated",
    "calculee": "calculated",
    "calculado": "calculated",
    "calculada": "calculated",
    "calcolato": "calculated",
    "calcolata": "calculated",
    "berechnet": "calculated",
    "ber": "calculated",
    "berekend": "calculated",
    "wyliczony": "calculated",
    "obliczony": "calculated",
    "friedewald": "calculated",
    "nih": "calculated",
    "hplc": "hplc",
    "westergren": "westergren",
    "manual": "manual",
    "mdrd": "mdrd",
    "epi": "ckdepi",
    "ckdepi": "ckdepi",
    "2021": "2021",
    "cockcroft": "cockcroft",
    "gault": "cockcroft",
    "electrophoresis": "electrophoresis",
    "dipstick": "strip",
    "strip": "strip",
}
# Methods that make another test of a name: protein electrophoresis is no protein.
_NAMING = frozenset({"electrophoresis"})
# Words that change neither the analyte nor the specimen.
_FURNITURE_WORDS = """
    level levels test tests value result results conc concentration assay method by the
    quantitative quant quantitation qualitative qual estimation measurement detection
    determination of in or for with and on random spot qn ql qnt sample specimen early
    morning
    automated auto automatic analyzer analyser photometry photometric colorimetric
    spectrophotometry clia eclia ecl cmia chemiluminescence elisa eia fia elfa ria ise
    immunoturbidimetry immunoturbidimetric turbidimetry nephelometry immunoassay
    enzymatic enzyme kinetic ifcc idms traceable jaffe urease god pod godpod hexokinase
    gldh uv biuret bcg bcp diazo uricase arsenazo opt pnpp chod pap gpo microscopy
    microscopic impedance flow cytometry cytometer electrode dry chemistry sls
    cyanmeth cyanide histogram derived rapid card screen screening
    3rd 4th third fourth generation gen ultrasensitive ultra us reflex estimated est
    edta citrate fluoride whole naf heparin count new old repeat per hpf lpf
    observation finding standardised standardized w rfl refl wrfl rflx rfx conf using
    ia deposit deposits sediment sedimen sedimento farr
    abbreviated system enz enzym enzymatisch enzymatique
"""
_FURNITURE = frozenset(_FURNITURE_WORDS.split())

_TIMED_URINE = re.compile(
    r"(?:\bdes\s)?\b(?:24\s*-?\s*(?:h|hr|hrs|hours?|heures|horas|ore|std|stunden|uurs"
    r"|godz)\b\.?|timed)(?:\s*urine)?",
    re.IGNORECASE,
)
# "Kalium i. S.": German for in serum, plasma, blood, urine.
_SPECIMEN_WITHIN = re.compile(r"\s+i\.?\s?([spbu])\b\.?\s*$")
_INSTRUMENT = re.compile(r"\b(?:lc|gc|uplc|icp)\s?[-/]?\s?ms(?:\s?[-/]?\s?ms)?\b")
_WHOLE_BLOOD = re.compile(r"\bwhole blood|vollblut|\bsang(?:re|ue)? (?:total|intero)")
_SPECIMEN_LETTER = re.compile(
    r"^(f?[sbpu]|f|[av]b|kb|du|tu|pt|fl|csv|sp|(?:erc|lkc|trc|lymfo)s?(?:\(b\))?|ery)"
    r"\s*[.\-—]\s*(?=[a-z0-9]{2}|c-|k$)"
    r"|^([sup])\s+(?=[a-z]{2})|^(b)\s+(?=h[bae]|glu|lac|lead)"
)
# A specimen's letter behind a name: 'Natrium;P' in the north, 'Lead, B' in America.
_SPECIMEN_BEHIND = re.compile(
    r"\s*;\s*(f?[sbpu]|f|du|pt|csv|[av]b|kb)$|(?:(?<!protein),\s*(?=s$)|\s*,\s*(?!s))([sbpu])$"
)
_LETTER_SPECIMENS: dict[str, str | None] = {
    "ab": "arterial",
    "vb": "venous",
    "kb": "capillary",
    "du": "urine24",
    "tu": "urine24",
    "fl": "serum",
    "csv": "csf",
    "pt": None,
    "s": "serum",
    "p": "serum",
    "b": "blood",
    "u": "urine",
    "f": "stool",
    "fs": "serum",
    "fp": "serum",
    "fb": "blood",
    "fu": "urine",
}
_WORD = re.compile(r"[a-z0-9]+|[%#]")


def begins_with_specimen_letter(name: str) -> bool:
    """Return whether a name may begin with a specimen's letter: 'S-TSH', 'P-LCR'."""
    return _SPECIMEN_LETTER.match(normalize_name_text(name)) is not None


@lru_cache(maxsize=4096)
def split_name_and_hints(name: str) -> tuple[tuple[str, ...], Hints]:
    """Return a name without its qualifiers, and the hints that these give.

    The texts are ever shorter: without specimen and furniture, then also without
    words for a share, then also without words for a method.
    """

    specimen: str | None = None
    folded = _INSTRUMENT.sub(" ", normalize_name_text(name))
    timed = _TIMED_URINE.search(folded)
    if timed:
        specimen = "urine24"
        folded = folded[: timed.start()] + " " + folded[timed.end() :]
    letter = _SPECIMEN_LETTER.match(folded)
    if letter:
        # Of cells in blood where the letter is none of a specimen.
        said = _LETTER_SPECIMENS.get(letter[letter.lastindex or 0], "blood")
        specimen = specimen or said
        folded = folded[letter.end() :]
    elif behind := (_SPECIMEN_BEHIND.search(folded) or _SPECIMEN_WITHIN.search(folded)):
        specimen = specimen or _LETTER_SPECIMENS.get(behind[behind.lastindex or 0])
        folded = folded[: behind.start()]
    share: str | None = None
    methods: set[str] = set()
    kept: list[str] = []
    for word in _WORD.findall(folded):
        if word in _SPECIMENS:
            if specimen in (None, "blood", "serum"):
                specimen = _SPECIMENS[word]
        elif word not in _FURNITURE:
            kept.append(word)
            share = _SHARES.get(word, share)
            methods.update({_METHODS[word]} if word in _METHODS else ())
    shareless = [word for word in kept if word not in _SHARES]
    bare = [word for word in shareless if word not in _METHODS or word in _NAMING]
    texts = dict.fromkeys(" ".join(words) for words in (kept, shareless, bare) if words)
    is_whole = _WHOLE_BLOOD.search(folded) is not None
    return tuple(texts), Hints(specimen, share, frozenset(methods), is_whole)
