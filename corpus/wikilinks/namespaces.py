"""Which titles are those of articles: the namespaces of Wikipedia's editions.

A title belongs to another namespace when what stands before its first colon is the name of one, in English (which every
edition knows) or in its edition's own language; or the name of another wiki (``de:Haus``). Where an edition's own names
are not here, any word before a colon and a letter counts as one: ``Benutzer:X`` is a user's page then, and so,
wrongly, would be ``Matrix:Film``; ``Matrix: Film`` is not.

Sources: MediaWiki's languages/messages/Messages*.php, Wikimedia's langlist. Editions of South African languages are
here in full: MediaWiki has no own names for isiZulu, isiXhosa, Sesotho and Setswana, only for Afrikaans.
"""

from __future__ import annotations

import re

_ENGLISH = """
Media Special Talk User Project Wikipedia File Image MediaWiki Template Help Category Portal Draft MOS TimedText Module
Book Gadget Event WP WT
"""
_AFRIKAANS = "Spesiaal Bespreking Gebruiker Lêer Beeld Sjabloon Hulp Kategorie Portaal"
_OTHER_WIKIS = """
w wikt wiktionary n wikinews b wikibooks q wikiquote s wikisource v wikiversity voy wikivoyage c commons d wikidata f
wikifunctions m meta metawikipedia mw mediawikiwiki species wikispecies wmf foundation incubator phab
"""
_EDITIONS = """
aa ab ace ady af ak als alt am ami an ang anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg bcl be
be-tarask be-x-old bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch cho chr chy ckb co cr crh
cs csb cu cv cy da dag de din diq dsb dty dv dz ee el eml en eo es et eu ext fa fat ff fi fiu-vro fj fo fr frp frr fur
fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia
id ie ig ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab kbd kbp kcg kg ki kj kk kl km kn ko koi kr krc ks ksh ku kv
kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni
mnw mo mr mrj ms mt mus mwl my myv mzn na nah nan nap nds nds-nl ne new ng nia nl nn no nov nqo nrm nso nv ny oc olo om
or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara ru rue rup rw sa
sah sat sc scn sco sd se sg sgs sh shi shn shy si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw szl szy ta
tay tcy te tet tg th ti tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war
wo wuu xal xh xmf yi yo yue za zea zh zh-classical zh-min-nan zh-yue zu
"""
_EVERYWHERE = frozenset(
    (
        *(name.casefold() for name in _ENGLISH.split()),
        *(f"{name} talk".casefold() for name in _ENGLISH.split()),
        *_OTHER_WIKIS.split(),
        *_EDITIONS.split(),
    )
)
_ONLY_ENGLISH: frozenset[str] = frozenset()
_OWN = {
    **dict.fromkeys(("en", "simple", "st", "tn", "xh", "zu"), _ONLY_ENGLISH),
    "af": frozenset(
        name + end for name in (*_AFRIKAANS.casefold().split(), "wikipedia", "mediawiki") for end in ("", "bespreking")
    ),
}
_LIKE_A_NAMESPACE = re.compile(r"[^:]+:\S")


def is_article(title: str, edition: str) -> bool:
    """``title``: as :func:`corpus.wikilinks.address.title_of` gives it, not empty."""
    prefix, colon, _ = title.partition(":")
    if not colon:
        return True
    name = prefix.strip(" ").casefold()
    if name in _EVERYWHERE:
        return False
    own = _OWN.get(edition)
    return _LIKE_A_NAMESPACE.match(title) is None if own is None else name not in own
