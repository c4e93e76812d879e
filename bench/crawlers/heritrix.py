"""Heritrix 3, as its distribution comes: the profile that its own jar holds, with the overrides listed here.

The folder of an unpacked `heritrix-<version>-dist.tar.gz` is named by the environment variable ``HERITRIX_HOME``.
What is changed: seeds and scope (this web's hosts), delays and waits before retries, time-outs, HTTP/1.1, rel=nofollow
obeyed, no pause at the start. Everything else is its default.
"""

from __future__ import annotations

import re
import ssl
import urllib.request
import zipfile

from bench.crawlers.peer import JavaPeer, Task, free_port

_PASSWORD = "bench"  # of a server on loopback that lives for a minute
_RULE = (
    '<bean class="org.archive.modules.deciderules.{kind}DecideRule"><property name="decision" value="{decision}"/>'
    '<property name="regexList"><list><value>{regex}</value></list></property></bean>'
)


class Heritrix(JavaPeer):
    """One JVM, one job; started again it goes on from its latest checkpoint."""

    name = "Heritrix"
    archive = "warc.gz"
    variable = "HERITRIX_HOME"
    folder = "unpacked distribution"
    jar = "lib/heritrix-engine"

    def command(self, task: Task) -> list[str]:
        """A JVM that runs the job and ends."""
        job = task.folder / "jobs" / "bench"
        if not job.exists():
            job.mkdir(parents=True)
            (job / "crawler-beans.cxml").write_text(self.beans(task))
        task.port = free_port()
        command = ["java", "-Xmx1g", f"-Dheritrix.home={self.home}", "-cp", f"{self.home}/lib/*"]
        command += [f"-Djava.io.tmpdir={task.folder}", "org.archive.crawler.Heritrix", "-a", f"admin:{_PASSWORD}"]
        command += ["-p", str(task.port), "-j", str(job.parent), "-r", "bench"]
        return [*command, "-c", "latest"] if task.resumed else command

    def checkpoint(self, task: Task) -> None:
        """Ask for a checkpoint by the REST interface, as its documentation says, and wait until it is written."""
        address = f"https://localhost:{task.port}/engine/job/bench"
        passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, address, "admin", _PASSWORD)
        context = ssl._create_unverified_context()
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context), urllib.request.HTTPDigestAuthHandler(passwords)
        )
        opener.open(address, data=b"action=checkpoint", timeout=60).read()

    def beans(self, task: Task) -> str:
        """The default profile with the bench's values."""
        (jar,) = self.home.glob("lib/heritrix-engine-*.jar")
        text = zipfile.ZipFile(jar).read("org/archive/crawler/restlet/profile-crawler-beans.cxml").decode()
        hosts = "|".join(re.escape(site.host) for site in task.web.sites)
        overrides = {
            "metadata.operatorContactUrl": "https://example.org/crawler",
            "metadata.jobName": "bench",
            "disposition.minDelayMs": str(round(task.delay_s * 1000)),
            "disposition.maxDelayMs": str(round(task.delay_s * 1000)),
            "disposition.delayFactor": "1.0" if task.delay_s else "0.0",
            "frontier.retryDelaySeconds": str(task.retry_s),
            "frontier.snoozeLongMs": "1000",
            "crawlController.pauseAtStart": "false",
            "crawlController.maxToeThreads": str(task.concurrency),
            "fetchHttp.useHTTP11": "true",
            "fetchHttp.timeoutSeconds": "30",
            "fetchHttp.soTimeoutMs": "5000",
            "extractorHtml.obeyRelNofollow": "true",
            "warcWriter.prefix": "bench",
        }
        lines = "".join(f"{name}={value}\n" for name, value in overrides.items())
        text = re.sub(r"metadata\.operatorContactUrl=.*?\n##\.\.more\?\.\.##", lambda _: lines, text, flags=re.S)
        text = text.replace("http://example.example/example", "\n".join(task.seeds))
        within = _RULE.format(kind="MatchesListRegex", decision="ACCEPT", regex=f"http://({hosts})(/.*)?")
        beyond = _RULE.format(kind="NotMatchesListRegex", decision="REJECT", regex=f"dns:.*|http://({hosts})(/.*)?")
        text = text.replace('<ref bean="acceptSurts" />', within, 1)
        # Redirects and embedded things, too, stay in this web.
        return text.replace(
            '<bean class="org.archive.modules.deciderules.SchemeNotInSetDecideRule">',
            f'{beyond}<bean class="org.archive.modules.deciderules.SchemeNotInSetDecideRule">',
        )
