package annals.lab.egeria;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;
import org.odpi.openmetadata.repositoryservices.connectors.openmetadatatopic.OpenMetadataTopicConnector;
import org.odpi.openmetadata.repositoryservices.connectors.openmetadatatopic.OpenMetadataTopicProvider;

/** A topic in memory that all servers of this platform share, in place of Kafka. Egeria's own topic in memory reaches one server. */
public class ProcessTopic extends OpenMetadataTopicConnector {
    private static final List<ProcessTopic> ALL = new CopyOnWriteArrayList<>();

    private final Queue<String> events = new ConcurrentLinkedQueue<>();

    /** Makes topics; configurations of an event bus name it. */
    public static class Provider extends OpenMetadataTopicProvider {
        public Provider() {
            setConnectorClassName(ProcessTopic.class.getName());
            ConnectorType type = new ConnectorType();
            type.setType(ConnectorType.getConnectorTypeType());
            type.setGUID("2a4b0f3e-4a55-4b0c-8f35-7c6f3f7c0002");
            type.setQualifiedName("Annals:Lab:ProcessTopic");
            type.setConnectorProviderClassName(Provider.class.getName());
            connectorTypeBean = type;
        }
    }

    private String address() {
        return connectionProperties.getEndpoint().getAddress();
    }

    @Override
    public void sendEvent(String event) {
        for (ProcessTopic topic : ALL) {
            if (topic.address().equals(address())) {
                topic.events.add(event);
            }
        }
    }

    @SuppressWarnings("deprecation") // Egeria's own topics give texts, too.
    @Override
    protected List<String> checkForEvents() {
        List<String> found = new ArrayList<>();
        for (String event = events.poll(); event != null; event = events.poll()) {
            found.add(event);
        }
        return found;
    }

    @Override
    public void start() throws ConnectorCheckedException {
        super.start();
        ALL.add(this);
    }

    @Override
    public void disconnect() throws ConnectorCheckedException {
        ALL.remove(this);
        super.disconnect();
    }
}
