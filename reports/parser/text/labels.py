"""The labels of a report's header in the supported languages.

English, German, French, Spanish, Portuguese and Italian, some Turkish. Patterns only;
what stands beside a label is read in metadata.py.
"""

from __future__ import annotations

import re

_NUMBER_OF = r"(?:n[°ºo.]*|num(?:[ée]ro|ero)?\.?|n[úu]m(?:ero|\.)?)\s*(?:d[eio]l?\s*)?"
_LABELS: dict[str, str] = {
    "surname_first": (
        r"(?:cognome\s*(?:e|/|,)?\s*nome|apellidos?\s*(?:y|,|/)\s*nombres?"
        r"|nom\s*(?:et|/|,|-)?\s*pr[ée]nom|(?:nach)?name\s*,\s*vorname"
        r"|surname\s*(?:and|,|/|&)\s*(?:first|given)?\s*names?)"
    ),
    "last": (
        r"(?:last\s*name|surname|family\s*name|nachname|familienname|apellidos?"
        r"|cognome|sobrenome|nom\s*de\s*(?:famille|naissance|usage))"
    ),
    "first": r"(?:first\s*names?|given\s*names?|forenames?|vornamen?|pr[ée]noms?)",
    "name": (
        r"(?:patient(?:'?s)?\s*name|name\s*of\s*patient|patient|full\s*name|name"
        r"|pt\.?\s*name|client(?:e|\s*name)|paciente|nombre(?:\s*(?:y|e)\s*apellidos?)?"
        r"|nombre\s*(?:del?\s*)?paciente|patientin?|nom(?:\s*du\s*patient)?"
        r"|nome(?:\s*d[oe]l?\s*pa[cz]iente)?|paziente|patient\(?e?\)?"
        r"|hasta\s*ad[ıi]|ad[ıi]?\s*soyad[ıi]?)"
    ),
    "dob": (
        r"(?:d\.?\s?o\.?\s?b\.?(?:\s*/\s*age)?|date\s*of\s*birth|birth\s*date|birthdate"
        r"|born(?:\s*on)?|geburtsdatum|geb\.?\s*-?\s*dat(?:um|\.)?"
        r"|geb(?:oren|\.)?(?:\s*am)?"
        r"|(?:f(?:echa|\.)?\s*(?:de\s*)?)?nac(?:imiento|\.)?|nacid[oa]\s*el"
        r"|(?:date\s*de\s*)?naissance|date\s*de\s*naiss\.?|ddn|n[ée]e?\s*(?:\(e\))?\s*le"
        r"|d(?:ata|t\.?)\s*(?:de\s*)?nasc(?:imento|\.)?|nasc(?:imento|\.)?"
        r"|nascid[oa]\s*em|data\s*(?:di\s*)?nascita|nat[oa]\s*(?:/a)?\s*il"
        r"|do[ğg]um\s*tarihi)"
    ),
    "sex": (
        r"(?:(?:legal\s*)?sex|gender|age\s*[/&,|-]\s*(?:sex|gender)|(?:sex"
        r"|gender)\s*[/&,|-]\s*age|geschlecht|sexo|sexe|sesso|cinsiyet"
        r"|y(?:ea)?rs?\s*/\s*sex|age\s*and\s*(?:sex|gender)"
        r"|(?:edad|idade|[âa]ge|et[àa]|alter)\s*[/&,|-]\s*(?:sexo|sexe|sesso|geschlecht)"
        r"|(?:sexo|sexe|sesso|geschlecht)\s*[/&,|-]\s*(?:edad|idade|[âa]ge|et[àa]|alter))"
    ),
    "age": r"(?:age(?:\s*\(?years?\)?)?|alter|edad|idade|[âa]ge|et[àa]|ya[şs])",
    "reported": (
        r"(?:(?:date\s*(?:of\s*)?)?report(?:ed|ing)?(?:\s*(?:on|date|at|time"
        r"|date\s*[&/]?\s*time|date/time))*|date\s*reported|resulted|released(?:\s*on)?"
        r"|approved(?:\s*on)?|authori[sz]ed\s*(?:on|date)|result\s*date"
        r"|report\s*release\w*|emiss[ãa]o|(?:end)?befund(?:datum|\s*vom)|berichtsdatum|ausgangsdatum"
        r"|fecha\s*(?:de\s*(?:la\s*)?)?(?:informe|resultados?|emisi[oó]n|validaci[oó]n"
        r"|reporte)|validado(?:\s*el)?|emitido\s*el"
        r"|date\s*d['’e]\s*(?:[ée]dition|r[ée]sultats?|validation)|[ée]dit[ée]\s*le"
        r"|valid[ée]\s*le|compte[\s-]rendu\s*du|r[ée]sultats?\s*du"
        r"|data\s*(?:d[aeo]l?\s*)?(?:libera[cç][ãa]o|emiss[ãa]o|laudo|resultado|referto)"
        r"|(?:emitido|liberado)\s*em|referta(?:to|zione)(?:\s*il)?|rapor\s*tarihi)"
    ),
    "collected": (
        r"(?:(?:sample|specimen|date|time)?\s*(?:of\s*)?(?:collect(?:ed|ion)|coll\.?"
        r"|drawn|taken)(?:\s*(?:on|date|at|time|date\s*[&/]?\s*time|date/time|dt))*"
        r"|date\s*(?:collected|taken)|(?:sample|specimen)\s*date|(?:blut|proben?)?-?\s*entnahme(?:datum|zeit)?"
        r"|abnahme(?:datum|zeit)?|probe(?:nahme)?\s*vom"
        r"|(?:fecha\s*(?:de\s*(?:la\s*)?)?)?(?:toma(?:\s*de\s*(?:la\s*)?muestra)?"
        r"|extracci[oó]n|recolecci[oó]n)|fecha\s*(?:de\s*(?:la\s*)?)?muestra"
        r"|pr[ée]lev[ée](?:ment)?(?:\s*(?:le|du))?|date\s*d[eu]\s*pr[ée]l[èe]vement"
        r"|pr[ée]l[èe]vement(?:\s*(?:le|du))?"
        r"|(?:data\s*(?:d[aeo]\s*)?)?(?:coleta|colheita)|coletado(?:\s*em)?"
        r"|(?:data\s*(?:d[ei]l?\s*)?)?prelievo(?:\s*(?:del|il))?|prelevato\s*il"
        r"|numune\s*al[ıi]m\w*(?:\s*tarihi)?)"
    ),
    "specimen": (
        r"(?:specimen\s*(?:id|no\.?|number|#)|sample\s*(?:id|no\.?|number|#)"
        r"|accession\s*(?:no\.?|number|id|#)?|lab\s*(?:id|no\.?|number"
        r"|ref(?:erence)?\.?(?:\s*no\.?)?)|barcode(?:\s*no\.?)?|sin\s*no\.?"
        r"|req(?:uest|uisition)?\.?\s*(?:id|no\.?|number|#)|requisition"
        r"|auftrags?-?\s*n(?:umme)?r\.?|tages-?\s*n(?:umme)?r\.?"
        r"|(?:proben?|labor)-?\s*n(?:umme)?r\.?|vial\s*id|laborat[oó]rio\s*n[oº]"
        rf"|{_NUMBER_OF}(?:dossier|muestra|petici[oó]n|orden|pedido|protocolo|amostra"
        r"|accettazione|campione|demande)|dossier\s*n[°ºo.]*|folio|protocolo"
        r"|codi(?:ce|go)\s*(?:d[ei]l?a?\s*)?(?:campione|muestra|amostra)|accettazione)"
    ),
}
# A label of a day may go without a sign at its end: 'Prélevé le 22/10/2025'.
_DAY_NEXT = (
    r"|(?=\s\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\s\d{4}[./-]\d{1,2}[./-]\d{1,2}\b"
    r"|\s\d{1,2}\s[^\W\d_]{3,9}\.?,?\s\d{4}\b)"
)
_DAYS = ("dob", "reported", "collected")
# So may the label of a number: 'Specimen No. SP-10023'.
_NUMBER_NEXT = r"|(?<=[.#])(?=\s(?:[A-Z]{1,6}-?)?\d)"
LABELS = {
    key: re.compile(
        rf"(?i)^\W*{pattern}\s*?(?:\s*(?:[:：#]|\.\s*:|-\s|$)"
        rf"{_DAY_NEXT if key in _DAYS else ''}"
        rf"{_NUMBER_NEXT if key == 'specimen' else ''})"
    )
    for key, pattern in _LABELS.items()
}
# The day of birth within a line that began with something else.
BORN_WITHIN = re.compile(
    r"(?i)\b(?:geb\.|geboren(?:\s*am)?|n[ée]e?\s*le|nat[oa]\s*il|dob|d\.o\.b\.)"
    r"\s*:?\s*(?P<dob>\d{1,2}[./ -](?:\d{1,2}|[^\W\d_]{3,9})[./ -]\d{2,4})\b"
)
# Beside these the day of a date stands first.
_CONTINENTAL = re.compile(
    r"(?i)\b(?:geburtsdatum|geschlecht|befund\w*|entnahme\w*|abnahme\w*|naissance|sexe"
    r"|pr[ée]l[èe]v\w*|dossier|paciente|sexo|fecha|nacimiento|coleta|nascimento|sesso"
    r"|nascita|prelievo|paziente|referto|n[ée]e?\s+le|nat[oa]\s+il)\b"
)


def is_day_first_language(text: str) -> bool:
    """Return whether a header's language writes dates with the day first."""
    return bool(_CONTINENTAL.search(text))
