"""The roles of columns, and the titles that name them.

Vocabulary only; where titles stand is read in titles.py.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from reports.parser.text.folding import normalize_letters_and_digits


class Role(StrEnum):
    """What a column holds."""

    NAME = "name"
    VALUE = "value"
    UNIT = "unit"
    RANGE = "range"
    LOW = "low"
    HIGH = "high"
    FLAG = "flag"
    METHOD = "method"
    PREVIOUS = "previous"
    SPECIMEN = "specimen"
    OTHER = "other"


_TITLES: dict[Role, str] = {
    Role.NAME: """
        antibiotic|antibiotics|antibiotic name|antimicrobial|antimicrobial agent
        test|tests|test name|test names|name of test|name of the test|test description
        description|description of test|investigation|investigations|investigation name
        investigation s|analyte|analytes|parameter|parameters|parameter name
        test parameter
        test parameters|examination|examinations|examination name|test s|component
        components|biomarker|biomarkers|marker|markers|procedure|service|service name
        assay
        assay name|test performed|tests performed|test requested|item|test item
        tests ordered
        tests result|observation|profile|profile name|particulars|lab test
        laboratory test
        test investigation|test investigations|investigation parameter|determination
        characteristics|test report|name|test name method|test name methodology
        test method|investigation method|test specimen|measurement|clinical test
        analyse|analysen|untersuchung|parameter bezeichnung|messgrosse|bestimmung
        laborwert
        analisis|prueba|examen|estudio|determinacion|parametro|parametros|exame|analise
        analyses|parametre|esame|esami|analisi|tetkik|tetkik adi|test adi|tahlil
        bepaling
        badanie|analyte name|test code name|determinaciones|pruebas|examens
        investigations name|test parameter name|laboratory investigation
        esame richiesto|determinazione|determinazioni|prova|onderzoek|leistung
        bestimmungen|analyt|determination demandee|exames|parametri|laborparameter
        analys|undersokelse|undersogelse|provets namn|komponent|tutkimus|nazwa badania
        vysetreni|vizsgalat|pretraga|parametar|analiza|analize
        estudio realizado|estudios
        infection|infections|pathogen|pathogens|allergen|allergens
        antigen|antigens|item name|items|test items
        islem|islem adi|onderdeel|laboratorietest|bezeichnung|testbezeichnung
        denominacion|denominacao|designation|denominazione|omschrijving
        pemeriksaan|nama pemeriksaan|jenis pemeriksaan|ujian|nama ujian
        pokazatel|pokazateli|naimenovanie|naimenovanie pokazatelya|naimenovanie testa
        issledovanie|naimenovanie issledovaniya|pokaznik|nazva pokaznika
        项目|项目名称|检验项目|检查项目|检测项目|测试项目|检验项目名称|中文名称|名称
    """,
    Role.VALUE: """
        current|aktuell|actuel|actual|atual|attuale|huidig|aktualny
        today|today s result|this visit
        latest|most recent|newest|you|yours|titre|titres|titer|titers|mic|mic value
        sensitivity|susceptibility
        result|results|result s|results s|value|values|observed value|observed values
        your value
        your result|your results|test result|test results|result value|results value
        observed result|observed results|obtained value|patient value|patient s value
        patient result|patients result|patient results|current result|current results
        current value|present result|present value|latest result|measured value
        finding|findings
        reading|outcome|observation s|test value|value observed|result obtained
        results obtained|numeric result
        final result|in range|out of range|within range|outside range|in range result
        out of range result|normal result|abnormal result|within normal range|abnormal
        actual result|result unit|result units|results units|result s unit|value unit
        value units
        result and unit|result and units|results and units|outside normal range
        current result and flag|result flag|test values|calculated value|your level
        ergebnis|ergebnisse|wert|messwert|befund|istwert|resultat|resultats|resultado
        resultados|valor|valor obtenido|valor observado|valeur|valeurs|risultato
        risultati
        valore|sonuc|sonuclar|sonuc degeri|uitslag|wynik|your results value
        conventional result
        esito|valore rilevato|valeur obtenue|messergebnis|messwert|aktueller wert
        resultado actual|resultado obtido|resultado atual|resultaat|resultat actuel
        this time|svar|varde|wyniki|tulos|vysledek|vysledky|hodnota|eredmeny|rezultat
        rezultate|nalaz|uitkomst|waarde|resultater|resultado del paciente
        relativ|absolut|relativo|absoluto|relativer wert|absolutwert|valor relativo
        valor absoluto|valeur relative|valeur absolue|fuera de rango|dentro de rango
        fora da faixa|fuori range|hors norme
        hasil|hasil pemeriksaan|keputusan
        znachenie|rezultaty|rezultat issledovaniya|znachennya
        结果|检验结果|检测结果|检查结果|测定结果|测试结果|测定值|结果值|本次结果
    """,
    Role.UNIT: """
        unit|units|unit s|uom|u o m|unit of measure|unit of measurement
        units of measure|measuring unit
        einheit|einheiten|masseinheit|unidad|unidades|unidade|unidad de medida|unite
        unites
        unites si|unidades si|unidad de med|unita di mis|unita|unita di misura|u m|birim
        birimi|eenheid|jednostka|conv unit
        conventional units
        enhet|enhed|enheter|enheder|jedn|yksikko|jednotka|jednotky|mertekegyseg
        mjerna jedinica|unitate|unitati|j m|unid|einh|satuan
        ed izm|ed izmereniya|edinitsy|edinitsa izmereniya|edinitsy izmereniya|ed
        odinitsi vimiru|单位|结果单位
    """,
    Role.RANGE: """
        reference range|reference ranges|ref range|ref ranges|range|ranges
        reference interval
        reference intervals|ref interval|ref int|biological reference interval
        biological reference intervals|biological ref interval|bio ref interval
        bio ref intervals
        bio reference interval|bio ref range|biological reference range
        biological ref range
        biological reference|biological references|bio reference|bio ref|bio ref int
        b r i|bri
        biological reference intervel|biological reference value
        biological reference values
        normal range|normal ranges|normal value|normal values|normal limits
        normal interval
        reference value|reference values|reference|references|ref value|ref values|ref
        expected range|expected values|expected value|standard range|healthy range
        optimal range
        desired range|desirable range|target range|normal|normals|limits
        reference limits|v r|v n
        normal reference range|reference normal range|normal ref range|rr|ri
        reference range units
        reference range and units|reference interval units|ref range units
        lab reference range
        reference range unit|units reference range|reference range s
        biological reference range s
        refvalue|refrange|refinterval|ref values|expected|expected result|std range
        standard value|adult reference range|bio interval|biological interval
        biological ref intervals|reference intervals units|unit reference range
        referenzbereich|referenzwerte|referenzwert|referenz|normbereich|normwert
        normwerte
        norm|sollwert|valores de referencia|valor de referencia|rango de referencia
        rango
        intervalo de referencia|referencia|valores normales|rango normal
        limites de referencia
        valeurs de reference|valeur de reference|intervalle de reference|norme|normes
        intervalles de reference|valeurs normales|valori di riferimento
        intervallo di riferimento
        intervalli di riferimento|riferimento|referans araligi|referans degerleri
        referans
        referans deger|referans aralik|normal degerler|referentiewaarden|referentie
        valeurs de ref|valeur de ref|val ref|valores de ref|valor de ref|valori di rif
        valori rif|ref values units|valeurs ref
        valeurs usuelles|valeur usuelle|valeurs physiologiques|plage de reference
        valores usuales|rangos de referencia|intervalos de referencia
        valores referenciais de normalidade|valori normali|valori di rif|range
        range di riferimento|intervalli di rif|bezugsbereich|referenzbereiche
        ref bereich|referenzintervall|normalwert|normalwerte|normalbereich
        referentieinterval|normaalwaarden|lab range|laboratory range
        laboratory reference range|interpretation range|ref rng|ref interval range
        zakres referencyjny|valores referenciais|valores de ref|referencias
        standard values|latest ref range|latest ref range units
        latest ref range and units
        ref range unit|referensintervall|refintervall|referensomrade|referenceinterval
        referanseomrade|ref omrade|viitearvot|viitevali|wartosci referencyjne
        wartosc referencyjna|zakres ref|zakres norm|norma|normy|zakres
        cutoff|cut off|cutoff value|cut off value|cutoff level|cut off level
        referencni meze|referencni rozmezi|referenciatartomany|referentni interval
        interval de referinta|interval biologic de referinta|valori de referinta
        referentni intervali|referentiewaarde|ref waarden
        nilai rujukan|nilai normal|nilai referensi|rujukan|julat rujukan|julat normal
        referensnye znacheniya|referensnyi interval|referensnye intervaly|referens
        referentnye znacheniya|normalnye znacheniya|referentni znachennya
        参考值|参考范围|参考区间|参考值范围|正常值|正常范围|正常参考值|生物参考区间|参考
    """,
    Role.LOW: """
        low|lower limit|min|minimum|lower|ref low|low limit|lower ref limit
        norm von|ref von|untergrenze|untere grenze|unterer grenzwert|limite inferior
        lim inf|limite inferieure|limite inferiore|minimo|valor minimo|ondergrens
    """,
    Role.HIGH: """
        high|upper limit|max|maximum|upper|ref high|high limit|upper ref limit
        norm bis|ref bis|obergrenze|obere grenze|oberer grenzwert|limite superior
        lim sup|limite superieure|limite superiore|maximo|valor maximo|bovengrens
    """,
    Role.FLAG: """
        flag|flags|h l|hi lo|status|alert|abnormal flag|abn|ind|indicator|result flag
        remark
        remarks|interpretation|h l flag|abnormal flags|markierung|hinweis|l h
        inference|a flag
        bewertung|auff|alerta|anormal|anomalia|observacion|comment|comments|evaluation
        rating
        interp|notes|durum|flag s|sig
        flaga|flagga|judgement|judgment|judgement of item|uwagi|anmarkning|keterangan
        otklonenie|kommentarii|提示|标志|状态|异常提示|结果提示
    """,
    Role.METHOD: """
        method|methods|methodology|technique|test method|methode|metodo|tecnica
        analysis method
        method used|technology|method name|instrument|analyzer|equipment|yontem|metode
        principle
        methode technique|method instrument|tech
        metod|metod issledovaniya|方法|检测方法|实验方法|检验方法|测定方法
    """,
    Role.PREVIOUS: """
        previous|previous result|previous results|previous value|previous values
        prev result
        prior result|prior results|prior|last result|last value|history|past result
        past results
        previous result date|prev|previous date|trend|previous result and date|vorwert
        vorwerte
        vorbefund|anterior|resultado anterior|anteriores|anteriorite|anteriorites
        precedente|anterieur|anterieurs|resultat anterieur|resultats anterieurs
        vorbefunde|letzter wert|valeur anterieure|valeurs anterieures|previo|previos
        resultado previo|resultados anteriores|risultato precedente|precedenti|vorige
        onceki sonuc|historical result|historical results|delta|previous reading
        old result
        prior value|antecedents|change|last results|previous 1|previous 2
        last visit|previous visit|last test|earlier|earlier result|earlier results
        last time|time before last|the time before last|previous time|forra svaret
        tidigare|tidligere|poprzedni wynik|poprzednio|vorige uitslag|edellinen
        上次结果|历史结果|predydushchii rezultat
    """,
    Role.SPECIMEN: """
        mat
        specimen|sample|sample type|specimen type|material|probe|probenmaterial|muestra
        campione|amostra|tipo de amostra|materiaal
        tipo de muestra|echantillon|sample specimen|numune|materiale
    """,
    Role.OTHER: """
        kurzel|abkurzung|abbreviation|abbr|short name|codigo|codice
        lab|date|s no|sr no|sl no|no|sno|srno|code|test code|s l no|loinc|loinc code
        date time|collected|performed
        site|performing lab|accredited|nabl|department|id|laboratory|date reported|nr
        collection date
        serial no|# |verified|result date|reported|analysis date|datum|fecha
        uncertainty|si result|conv factor
        performing|perf lab|date performed|test date|nabl status|price range|si units
        si results|si value
        si unit|si reference range
        panel|section|group|system|discipline|category|test category
        graph|chart|gauge|visual|distribution|scale|bar
        序号|代号|编号|英文缩写|缩写|英文名称|英文|简称|英文代码
    """,
}
# Where a table has a column for each, the result stands in one of them.
ZONES = frozenset(
    [
        *("low", "normal", "high", "optimal", "moderate", "borderline", "elevated"),
        *("desirable", "abnormal", "critical", "increased", "at risk", "low risk"),
        *("moderate risk", "high risk", "average", "intermediate", "deficient"),
        *("niedrig", "erhoht", "hoch", "bajo", "alto", "bas", "eleve", "basso"),
    ]
)
# Words of a range that someone aims at, or decides by, beside that of the laboratory.
_GOALS = frozenset(
    ["optimal", "target", "goal", "ideal", "desired", "functional", "cutoff", "cut"]
)
_PHRASES: dict[tuple[str, ...], Role] = {
    tuple(phrase.split()): role
    for role, phrases in _TITLES.items()
    for phrase in (
        part.strip() for line in phrases.split("\n") for part in line.split("|")
    )
    if phrase
}
LONGEST_TITLE = max(len(phrase) for phrase in _PHRASES) + 1
# Without blanks, for a picture is read with blanks lost or put in.
TITLES = {"".join(phrase): role for phrase, role in _PHRASES.items()}


def is_goal_range_title(text: str) -> bool:
    """Return whether the title of a range column means a goal, not the lab's range."""
    return not _GOALS.isdisjoint(text.split())


def is_name_column_title(text: str) -> bool:
    """Return whether a text is a usual title of the column of names."""
    return find_column_role(text) is Role.NAME


def is_column_title(text: str) -> bool:
    """Return whether a text is a usual title of a column, whatever it holds."""
    return find_column_role(text) is not None


def find_column_role(text: str) -> Role | None:
    """Return what a column of this title holds; None if the title is unknown."""
    return TITLES.get(normalize_letters_and_digits(text).replace(" ", ""))


@lru_cache(maxsize=8192)
def may_start_column_title(text: str) -> bool:
    """Return whether a title of a column may begin with a word."""
    folded = normalize_letters_and_digits(text)
    return folded.partition(" ")[0] in _TITLE_WORDS or folded in TITLES


_TITLE_WORDS = {word for phrase in _PHRASES for word in phrase}
