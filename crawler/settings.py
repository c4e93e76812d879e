"""Scrapy settings of the project; all that makes it Ulwembu comes from the add-on, so other projects get the same.

What a crawl itself needs (contact, sites, delays) stands in its ``seeds/<name>.toml``. Our own settings, with their
defaults and meanings: ``crawler/options.py`` or docs/settings.md.
"""

BOT_NAME = "ulwembu"
ADDONS = {"crawler.addon.Ulwembu": 100}
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
SPIDER_LOADER_CLASS = "crawler.spiderloader.CrawlLoader"
COMMANDS_MODULE = "crawler.commands"
LOG_LEVEL = "INFO"
