"""Months by name, as pages print them: in the official languages of South Africa, and in some of Europe.

Source: Unicode CLDR's wide and short names; of the languages of South Africa also those that Vuk'uzenzele writes, the
government's newspaper. Differs: names that are of one month here and of another there are left out (hlakola, phupu and
mopitlo are February, July and March in Sesotho and Setswana, March, June and May in Sepedi; listopada is November in
Polish, October in Croatian), or stand with the prefix that tells them apart (iNhlaba is June in siSwati, uNhlaba May in
isiZulu).
"""

from __future__ import annotations

import re

_NAMES = (
    # A month a piece: languages of Europe, Nguni languages, Sotho languages with Xitsonga and Tshivenda.
    """
    january jan januarie januari januar jänner janvier janv gennaio gen enero ene janeiro stycznia styczeń ledna
    leden januára január
    januwari janyuwari janabari masingana mqungu tjhirhweni bhimbidvwane
    pherekgong phesekgong janaware ferikgong sunguti phando
    """,
    """
    february feb februarie februari februar février fevrier févr febbraio febrero fevereiro fev lutego luty února
    únor februára február
    februwari feberbari nhlolanja mdumba mhlolanja indlovana
    dibokwane feberware tlhakole nyenyenyani luhuhi
    """,
    """
    march mar maart mrt märz maerz mär mars marzo março marca marzec března březen marec
    mashi matshi matjhi ndasa kwindla ntaka indlovulenkhulu indlovu-lenkhulu
    hlakubele tlhakubele hlakubela matšhe mopitlwe nyenyankulu ṱhafamuhwe thafamuhwe
    """,
    """
    april apr avril avr aprile abril abr kwietnia kwiecień dubna duben apríla apríl
    ephreli epreli apreli mbaso mbasa sihlabantangana tshazimpuzi mabasa
    mmesa mmese moranang aporele dzivamisoko lambamai
    """,
    """
    may mei mai maggio mag mayo maio maja maj května květen mája máj
    meyi nhlaba canzibe mrhayili inkhwekhweti nkhwekhweti
    motsheanong motsheganong mudyaxihi shundunthule
    """,
    """
    june jun junie juni juin giugno giu junio junho czerwca czerwiec června červen júna jún
    nhlangulana silimela mgwengweni inhlaba
    phuptjane phupjane seetebosigo khotavuxika fulwi
    """,
    """
    july jul julie juli juillet juil luglio lug julio julho lipca lipiec července červenec júla júl
    julayi jalayi ntulikazi khala velabahlinze kholwane
    mosegemanye phukwi mawuwani fulwana
    """,
    """
    august aug augustus août aout agosto ago sierpnia sierpień srpna srpen augusta
    agasti arhostosi ncwaba thupha rhoboyi ingci ngci
    phato phata agostose phatwe mhawuri ṱhangule thangule
    """,
    """
    september sep sept septembre settembre set septiembre setiembre setembro września wrzesień září septembra
    septhemba septemba mandulo msintsi khukhulamungu inyoni
    loetse leotse lewedi setemere lwetse ndzhati ndzati khubvumedzi
    """,
    """
    october oct oktober okt octobre ottobre ott octubre outubro out października październik října říjen októbra
    október
    okthoba oktobha oktoba mfumfu dwarha sewula mphalane imphala
    diphalana oktobere diphalane nhlangula tshimedzi
    """,
    """
    november nov novembre noviembre novembro listopadu novembra
    novemba lwezi nkanga usinyikhaba sinyikhaba lweti
    pudungwana pulungwana dibatsela nofemere ngwanatsele ngwanaatsele hukuri ḽara lara
    """,
    """
    december dec desember des dezember dez décembre décem déc dicembre dic diciembre dezembro grudnia grudzień
    prosince prosinec decembra
    disemba zibandlela mnga nobayeni ingongoni
    tshitwe tshitswe manthole disemere sedimonthole n'wendzamhala nyendavhusiku
    """,
)
_MONTHS = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}
_PREFIX = re.compile(r"(?:(?:la)?ng[oe]|kw(?=ey)|ng(?=ey)|k[ua]|u)?-?(?:k?w?ey[oe]|y[oe])?-?(?=\w{3})")
"""As the Nguni languages write *in*, *of* and a noun: ngoMeyi, ngo-Meyi, kuMasingana, uMeyi, kweyoKwindla."""


def month_of(name: str) -> int:
    """1 to 12, 0: of no month that is known."""
    name = name.lower().replace("’", "'").rstrip(".")
    prefix = _PREFIX.match(name)
    return _MONTHS.get(name) or (_MONTHS.get(name[prefix.end() :], 0) if prefix else 0)
