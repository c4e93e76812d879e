"""Links to Wikipedia with the words around them, out of archives and vertical files.

search = Search(Scope(languages=frozenset({"zul"})), LinkChoice(editions=frozenset({"zu", "en"})))
for mention in search.mentions(["crawl.warc.xz"]): ...
"""

from corpus.wikilinks.address import Target, target_of
from corpus.wikilinks.choice import LinkChoice
from corpus.wikilinks.mentions import Mention
from corpus.wikilinks.namespaces import is_article
from corpus.wikilinks.search import Scope, Search
from corpus.wikilinks.tables import Tables

__all__ = ["LinkChoice", "Mention", "Scope", "Search", "Tables", "Target", "is_article", "target_of"]
