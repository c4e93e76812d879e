"""BUbiNG 0.9.15, one agent, by the configuration of its documentation scaled down to one small machine.

The folder with its jar and all it depends on is named by the environment variable ``BUBING_HOME`` (docs/comparison.md
says how it is filled). Different from its example: threads, memory, delays, time-outs, a filter for this web's hosts.
"""

from __future__ import annotations

from bench.crawlers.peer import AGENT, JavaPeer, Task, free_port

_PROPERTIES = """
maxUrlsPerSchemeAuthority=10000
fetchingThreads={threads}
parsingThreads=2
dnsThreads=4
fetchFilter=URLMatchesRegex(http://127\\\\.7\\\\d\\\\..*)
scheduleFilter=SchemeEquals(http)
parseFilter=ContentTypeStartsWith(text/)
followFilter=TRUE
storeFilter=TRUE
keepAliveTime=0
schemeAuthorityDelay={delay_ms}ms
ipDelay={delay_ms}ms
maxUrls=1M
bloomFilterPrecision=1E-8
socketTimeout=5s
connectionTimeout=5s
fetchDataBufferByteSize=200K
cookiePolicy=ignoreCookies
cookieMaxByteSize=2000
userAgent={agent}
robotsExpiration=1h
responseBodyMaxByteSize=10M
digestAlgorithm=MurmurHash3
parserSpec=HTMLParser(MurmurHash3)
startPaused=false
workbenchMaxByteSize=64Mi
virtualizerMaxByteSize=64Mi
urlCacheMaxByteSize=64Mi
sieveSize=64Ki
dnsResolverClass=it.unimi.di.law.bubing.frontier.dns.JavaResolver
seed=file:{seeds}
"""
_LOGGING = """<configuration>
<appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %m%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root></configuration>
"""
_OPENED = ("java.lang", "java.util", "java.util.concurrent.atomic", "java.net", "java.io", "sun.nio.ch", "java.nio")


class Bubing(JavaPeer):
    """One JVM, one agent. Its store is written when it is told to stop by JMX, which is not done here."""

    name = "BUbiNG"
    variable = "BUBING_HOME"
    jar = "bubing"

    def prepare(self, task: Task) -> None:
        """Its properties and seeds."""
        seeds, properties = task.folder / "seeds.txt", task.folder / "bubing.properties"
        seeds.write_text("\n".join(task.seeds) + "\n")
        text = _PROPERTIES.format(
            threads=task.concurrency, delay_ms=round(task.delay_s * 1000), agent=AGENT, seeds=seeds
        )
        properties.write_text(text)
        (task.folder / "logback.xml").write_text(_LOGGING)

    def command(self, task: Task) -> list[str]:
        """A JVM that crawls until it is stopped."""
        port = free_port()
        management = {
            "com.sun.management.jmxremote.port": port,
            "com.sun.management.jmxremote.authenticate": "false",
            "com.sun.management.jmxremote.ssl": "false",
            "com.sun.management.jmxremote.host": "127.0.0.1",
            "java.rmi.server.hostname": "127.0.0.1",
            "java.net.preferIPv4Stack": "true",
            "jgroups.bind_addr": "127.0.0.1",
            "jgroups.udp.ip_ttl": "0",
            "java.io.tmpdir": task.folder,
            "logback.configurationFile": task.folder / "logback.xml",
        }
        command = ["java", "-Xmx1g", *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED)]
        command += [f"-D{name}={value}" for name, value in management.items()]
        command += ["-cp", f"{self.home}/*", "it.unimi.di.law.bubing.Agent", "-h", "127.0.0.1"]
        command += ["-P", str(task.folder / "bubing.properties"), "-g", f"bench{port}", "-r", str(task.folder / "root")]
        return [*command, *([] if task.resumed else ["-n"]), "agent"]
