"""How well do policies find target text? Crawls simulated on webs held in memory."""
