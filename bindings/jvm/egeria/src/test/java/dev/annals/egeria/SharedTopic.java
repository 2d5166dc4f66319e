package dev.annals.egeria;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;
import org.odpi.openmetadata.repositoryservices.connectors.openmetadatatopic.OpenMetadataTopicConnector;
import org.odpi.openmetadata.repositoryservices.connectors.openmetadatatopic.OpenMetadataTopicProvider;

/** A topic that all servers of this process share. Egeria's topic in memory has one server only. */
public class SharedTopic extends OpenMetadataTopicConnector {
    private static final List<SharedTopic> ALL = new CopyOnWriteArrayList<>();

    private final Queue<String> events = new ConcurrentLinkedQueue<>();

    /** A provider makes it. */
    public SharedTopic() {}

    /** Makes topics. */
    public static class Provider extends OpenMetadataTopicProvider {
        /** Describes the topic. */
        public Provider() {
            setConnectorClassName(SharedTopic.class.getName());
            ConnectorType type = new ConnectorType();
            type.setType(ConnectorType.getConnectorTypeType());
            type.setGUID("2a4b0f3e-4a55-4b0c-8f35-7c6f3f7c0001");
            type.setQualifiedName("Annals:Tests:SharedTopic");
            type.setConnectorProviderClassName(Provider.class.getName());
            connectorTypeBean = type;
        }
    }

    @Override
    public void sendEvent(String event) {
        ALL.forEach(topic -> topic.events.add(event));
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
        ALL.add(this);
        super.start();
    }

    @Override
    public void disconnect() throws ConnectorCheckedException {
        ALL.remove(this);
        super.disconnect();
    }
}
