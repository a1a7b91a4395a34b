"""Words that test names are made of, in the languages reports come in.

Turns a name into a set of English words, so that a name put together in another
language, or in another order, is found by the catalogue's own names. Words alone:
nothing here knows an analyte, a code or a unit.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .catalogue import normalize_name_text, unify_spelling_variants

# English words, then what other languages and abbreviations say for them.
_SAID = """
    total: totale totales totali totais totaux gesamt gesamtes ges totaal calkowity
        calkowita calkowite celkovy celkova totalt tot
    free: libre libres frei freie freies freier libero libera liberi livre wolny wolna
        wolne vrij vrije fritt fri
    direct: directe directa directo direkt direktes diretto diretta direta direto
        bezposrednia direk conjuguee conjugada konjugiert coniugata conj conjugated
    indirect: indirecte indirecta indirekt indiretta indireta posrednia indirek
        nonconjuguee
    fasting: jeun ayunas ayuno nuchtern nuechtern digiuno jejum nuchter czczo
        puasa aclik
    anti: acs anticorps anticuerpo anticuerpos anticorpo anticorpi anticorpos
        antikorper antikoerper ak aak antibody antibodies ab przeciwciala
        antistoffen anty autoantikorper autoanticorps
    antigen: ag antigene antigeno antygen antigeen
    mean: mittleres mittlere mittlerer moyen moyenne media medio medie srednia
        gemiddeld average
    volume: volumen zellvolumen objetosc
    corpuscular: corpusculaire globulaire globulare corpusculare
    distribution: distribucion distribuzione distribuicao verteilung
    width: breite ancho anchura amplitud amplitude largeur ampiezza
    distribution width: verteilungsbreite
    erythrocytes distribution width: erythrozytenverteilungsbreite
    platelets volume: thrombozytenvolumen plattchenvolumen
    concentration: konzentration concentracion concentrazione concentracao stezenie conc
    count: numeration recuento conteggio contagem anzahl zahl liczba sayisi jumlah
        hitung ct
    surface: oberflache oberflachen superficie powierzchniowy
    surface antigen: oberflachenantigen
    hcv: vhc
    hbv: vhb
    hav: vha
    nuclear: nucleaire nucleaires nucleare nucleares nucleari
    urate: urato urat
    parathyroid hormone: parathormon parathormone paratormona paratormonio pth
    intact: intakt intacta intacte intatto intacto
    intrinsic: intrinseque intrinseco
    creatinine: kreatinin kreatinine kreatynina creatinina creatinin creat kreat
        krea
        creatininemia
    urea: uree harnstoff ureum mocznik ureia
    nitrogen: nitrogeno azote azoto stickstoff ureico
    acid: ac acide acido kwas zuur
    uric: urique urico moczowy
    valproic acid: valproinsaure valproinsaeure valproate valproat valproato
    lithium: litio lit
    urine: urin orina urina urinary urinaire urinaires urinario urinaria harn mocz moczu
    urine protein: proteinurie proteinuria
    urine albumin: albuminurie albuminuria microalbuminurie microalbuminuria
    stool: fecal feces stuhl selles heces fezes feci fecale
    saliva: salivary salive saliva speichel
    uric acid: harnsaure harnsaeure urinezuur uricemia uricemie
    folic: folique folico foliowy
    folic acid: folsaure folsaeure foliumzuur folaat
    glucose: glukose glucosa glicose glucosio glukoza glycemie glicemia glucemia
        glykemie glukos blutzucker
    cholesterol: cholesterin colesterol colesterolo kolesterol cholesterolemie
        colesterolemia chol cholest
    triglycerides: triglyceride trigliceridos trigliceridi triglicerydy triglyceriden
        triglycerider trigliceridemia trig
    bilirubin: bilirubine bilirrubina bilirubina bili
    albumin: albumine albumina alb
    protein: proteins proteines proteine proteinas eiweiss bialko eiwit prot
    total protein: gesamteiweiss gesamtprotein
    sodium: natrium sodio sod
    potassium: kalium potasio potassio potas
    calcium: calcio kalzium wapn
    chloride: chlorid chlore cloro cloruro cloruros cloreto chlorki chloor chlorures
    magnesium: magnesio magnez
    phosphate: phosphat fosfato phosphore fosforo phosphor fosfaat fosforany phosphorus
        phosphorous phosphates
    inorganic: anorganisch anorganisches anorg inorganico inorganique nieorganiczny
    iron: fer eisen hierro ferro zelazo ijzer sideremia sideremie
    ferritin: ferritine ferritina ferrytyna
    transferrin: transferrine transferrina transferyna
    saturation: sattigung saettigung saturacion saturazione saturacao wysycenie
        verzadiging sat
    transferrin saturation: transferrinsattigung transferrinsaettigung
    iron binding capacity: eisenbindungskapazitat ijzerbindingscapaciteit
    capacity: capacite capacidad capacita capacidade cap
    binding: fixation fijacion fissazione ligacao legante bind
    ionized: ionise ionico ionizado ionizzato ionisiert ionisiertes zjonizowany iconized
        ionised ionis
    zinc: zink zinco cynk
    copper: kupfer cobre cuivre rame miedz koper
    selenium: selen selenio
    lead: blei plomo plomb piombo chumbo olow lood
    vitamin: vitamine vitamina witamina vit
    hemoglobin: hb hgb hamoglobin hemoglobine hemoglobina emoglobina hemoglobina
    glycated: glyquee glicosilada glicada glicata glucosilada glykiert glykiertes
        glykowana glikowana glycosylated geglyceerd glycohemoglobin
    leukocytes: leukozyten leukocytes leukocitos leukociti leukocyty leukocyten
        leucociti leukocyte leukosit lokosit lekosit
    erythrocytes: erythrozyten eritrocitos eritrociti erytrocyty erytrocyten hematies
        hemacias erythrocyte eritrosit
    platelets: plaquettaire thrombozyten plaquettes plaquetas piastrine plytki
        trombocyten trombocitos thrombocytes platelet plt trombosit
    lymphocytes: lymphozyten linfocitos linfociti limfocyty lymfocyten lymphs lymphocyte
        limfosit lenfosit
    monocytes: monozyten monocitos monociti monocyty monocyten monos monocyte monosit
    eosinophils: eosinophile eosinofilos eosinofili eozynofile eosinofielen eosinophil
        eos
    basophils: basophile basofilos basofili bazofile basofielen basophil basos
    neutrophils: neutrophile neutrofilos neutrofili neutrofile neutrofielen neutrophil
        neuts
    reticulocytes: retikulozyten reticulocitos reticulociti retykulocyty reticulocyten
        reticulocyte retic
    alkaline: alkalische alcalina alcaline alcalines alkal alk basische zasadowa
    phosphatase: phosphatases fosfatasa fosfatase fosfatasi fosfataza phos
    lactate: lactic lactica lattico lattica lactico laktat lattato milchsaure mleczanowa
        mleczan
    dehydrogenase: deshidrogenasa dehydrogenasi desidrogenase dehydrogenaza
        deshydrogenase
    lactate dehydrogenase: laktatdehydrogenase
    cholinesterase: colinesterasa colinesterasi colinesterase cholinoesteraza
    amylase: amilasa amilase amilasi amylaza alphaamylase
    lipase: lipasa lipasi lipaza
    pancreatic: pankreas pancreatica pancreatique trzustkowa pankreatisch pankreatische
        pancreas
    kinase: kinasa chinasi quinase kinaza phosphokinase fosfokinase creatinkinase
        kreatinkinase fosfoquinase fosfocinasa
    elastase: elastasa elastasi elastaza
    thyroglobulin: thyreoglobulin tiroglobulina tireoglobulina tyreoglobulina
        thyroglobuline
    peroxidase: peroxidasa perossidasi peroksydaza tpo tireoperossidasi thyroperoxidase
        thyreoperoxidase tiroperoxidasa tireoperoxidase
    thyroxine: tyroxin tiroxina tyroksyna thyroxin tiroksin tiroxin
    cortisol: kortisol cortisolo kortyzol
    testosterone: testosteron testosterona
    estradiol: ostradiol estradiolo
    progesterone: progesteron progesterona
    prolactin: prolaktin prolactina prolattina prolactine prolaktyna
    insulin: insulina insuline
    aldosterone: aldosteron aldosterona
    prothrombin: prothrombine protrombina protrombine
    thrombin: trombina thrombine
    time: zeit temps tiempo tempo czas tijd
    thrombin time: thrombinzeit trombinetijd
    prothrombin time: thromboplastinzeit prothrombinzeit
    thromboplastin: tromboplastina tromboplastine thromboplastine
    partial: partiel partielle parcial parziale partielle
    activated: activee activado activada attivata ativada aktivierte aktivovany
    fibrinogen: fibrinogene fibrinogeno fibrynogen
    rate: velocidad velocita velocidade vitesse
    trough: tr valle talspiegel residuel residuelle
    peak: pk pico pic spitzenspiegel
    sedimentation: sedimentacion sedimentazione hemossedimentacao eritrosedimentacion
        blutsenkung hemosedimentacion
    rheumatoid: rhumatoide reumatoide reumatoideo rheuma reumatoidalny rheumatoide
    factor: facteur fattore fator faktor czynnik
    rheumatoid factor: rheumafaktor reumafactor
    reactive: reactiva reattiva reativa reaktives reaktywne reactief
    complement: komplement complemento
    microglobulin: mikroglobulin microglobuline microglobulina
    light: lt leichtketten legeres ligeras leggere leves
    light chains: leichtketten
    chains: chain chaines cadenas catene cadeias
    hepatitis: hepatite epatite hep hepatyt
    virus: vir viral
    toxoplasma: toxoplasmose toxoplasmosis toxoplasmosi toxo
    rubella: rubeole roteln roeteln rozyczka rosolia
    cytomegalovirus: cmv citomegalovirus zytomegalie cytomegalie
    hiv: vih
    measles: rougeole masern sarampion morbillo sarampo odra mazelen
    mumps: oreillons paperas parotite swinka bof
    varicella: varicelle windpocken
    syphilis: sifilis sifilide lues kila syfilis
    immunoglobulin: immunoglobuline inmunoglobulina immunoglobulina imunoglobulina ig
        immunoglobulins
    hormone: hormon hormona ormone hormonio
    growth: wachstumshormon crecimiento crescimento croissance
    ratio: quotient cociente rapporto relacao rapport relacion verhouding wskaznik
    clearance: clairance depuracion depuracao aclaramiento klirens
    glutamyl: glutamil glutamylo gt
    gamma: gama
    transferase: transferasa transferasi transferaza transpeptidase
"""

# Words that join others, or say of any test that it is one. No single letters: "a" is
# French, and a vitamin.
_JOINING_WORDS = """
    al aux da das de del dell della delle dem den der des di die do dos du el em en et
    im in l le les los of os par per the und un van von w z
    content lev lvl estim patient pacjent dosage dosagem dosaggio taux nivel niveles
    valeur valor valore wert recherche ricerca pesquisa busqueda investigacion
    bestimmung nach serologie serologia suchtest
"""
_JOINING = frozenset(_JOINING_WORDS.split())
_WORD = re.compile(r"[a-z0-9]+|[%#]")
_REFLEX = re.compile(r"(?i)[\s,]+(?:w\s?/?\s*|with\s+)?(?:reflex\w*|rfx|rflx?)\b.*$")
_PHRASES = (
    (
        re.compile(
            r"(?:\bdes )?\b24\s*-?\s*(?:h|hrs?|hours?|heures|horas|ore|std|stunden|uurs"
            r"|godz)\b"
        ),
        "24h",
    ),
    (re.compile(r"\ba jeun\b"), "fasting"),
    (re.compile(r"\bde la\b"), "de"),
    # "Ac anti-HBs" is an antibody, "Ac. urico" an acid.
    (re.compile(r"\bac\.?(?=\s*anti)"), ""),
    (
        re.compile(r"\banti(?!gen|corp|cuerp|korp|koerp|stoff|bod)(?=[a-z]{2})"),
        "anti ",
    ),
)


def _read_lexicon() -> dict[str, tuple[str, ...]]:
    words: dict[str, tuple[str, ...]] = {}
    english: tuple[str, ...] = ()
    for part in re.findall(r"[a-z0-9 ]+:|[a-z0-9]+", _SAID):
        if part.endswith(":"):
            english = tuple(part[:-1].split())
        else:
            words[part] = english
    return words


_ENGLISH = _read_lexicon()


def strip_reflex_test_from_name(name: str) -> str:
    """Return a name without its reflex test: "TSH w/ reflex to FT4"."""
    return _REFLEX.sub("", name)


# Spellings that tell languages apart and names not: "fenitoina" is phenytoin.
_SPELLINGS = (
    (re.compile(r"ph"), "f"),
    (re.compile(r"(?<=[trc])h"), ""),
    (re.compile(r"qu|k|c(?=c)"), "c"),
    (re.compile(r"y"), "i"),
    (re.compile(r"ae|oe"), "e"),
    (re.compile(r"([a-z])\1"), r"\1"),
    (re.compile(r"[aeio]?s?$"), ""),
)
_SPELT_ALIKE_FROM = 6


@lru_cache(maxsize=16384)
def _skeleton(word: str) -> str:
    """What languages leave of a long word; short ones as they are."""
    if len(word) < _SPELT_ALIKE_FROM:
        return word
    for spelling, plain in _SPELLINGS:
        word = spelling.sub(plain, word)
    return word


@lru_cache(maxsize=16384)
def build_english_words_key(text: str) -> str:
    """Return a name's English words, sorted, each once; empty for letters alone."""

    found: set[str] = set()
    folded = unify_spelling_variants(
        normalize_name_text(strip_reflex_test_from_name(text))
    )
    for phrase, said in _PHRASES:
        folded = phrase.sub(said, folded)
    for word in _WORD.findall(folded):
        if word not in _JOINING:
            found.update(map(_skeleton, _ENGLISH.get(word, (word,))))
    return " ".join(sorted(found)) if any(len(word) > 2 for word in found) else ""
