"""A crawl watched: figures for progress lines, reports and Prometheus, and the gaps that the audit tells of."""
