import com.digitalpebble.stormcrawler.Constants;
import com.digitalpebble.stormcrawler.bolt.FetcherBolt;
import com.digitalpebble.stormcrawler.bolt.JSoupParserBolt;
import com.digitalpebble.stormcrawler.bolt.URLPartitionerBolt;
import com.digitalpebble.stormcrawler.indexing.DummyIndexer;
import com.digitalpebble.stormcrawler.persistence.MemoryStatusUpdater;
import com.digitalpebble.stormcrawler.spout.MemorySpout;
import com.digitalpebble.stormcrawler.util.ConfUtils;
import java.util.Arrays;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.LocalCluster;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;
import org.yaml.snakeyaml.Yaml;

/** The topology of StormCrawler's archetype in one process. Arguments: a configuration file and the seeds. */
public class StormTopology {
    @SuppressWarnings("unchecked")
    public static void main(String[] words) throws Exception {
        Config config = new Config();
        var defaults = StormTopology.class.getClassLoader().getResourceAsStream("crawler-default.yaml");
        config.putAll((Map<String, Object>) ((Map<String, Object>) new Yaml().load(defaults)).get("config"));
        ConfUtils.loadConf(words[0], config);
        String status = Constants.StatusStreamName;
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("spout", new MemorySpout(Arrays.copyOfRange(words, 1, words.length)));
        builder.setBolt("partitioner", new URLPartitionerBolt()).shuffleGrouping("spout");
        builder.setBolt("fetch", new FetcherBolt()).fieldsGrouping("partitioner", new Fields("key"));
        builder.setBolt("parse", new JSoupParserBolt()).localOrShuffleGrouping("fetch");
        builder.setBolt("index", new DummyIndexer()).localOrShuffleGrouping("parse");
        builder.setBolt("status", new MemoryStatusUpdater())
                .localOrShuffleGrouping("fetch", status)
                .localOrShuffleGrouping("parse", status)
                .localOrShuffleGrouping("index", status);
        new LocalCluster().submitTopology("bench", config, builder.createTopology());
        Thread.sleep(Long.MAX_VALUE);
    }
}
