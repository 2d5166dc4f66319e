package dev.annals.gremlin;

import java.io.IOException;
import java.util.Map;
import org.apache.tinkerpop.gremlin.structure.io.AbstractIoRegistry;
import org.apache.tinkerpop.gremlin.structure.io.graphson.GraphSONIo;
import org.apache.tinkerpop.gremlin.structure.io.graphson.TinkerPopJacksonModule;
import org.apache.tinkerpop.shaded.jackson.core.JsonParser;
import org.apache.tinkerpop.shaded.jackson.core.JsonToken;
import org.apache.tinkerpop.shaded.jackson.databind.DeserializationContext;
import org.apache.tinkerpop.shaded.jackson.databind.JsonDeserializer;
import org.apache.tinkerpop.shaded.jackson.databind.JsonNode;
import org.apache.tinkerpop.shaded.jackson.databind.deser.std.StdDeserializer;

/**
 * Types of JanusGraph in its GraphSON, which become texts: ids of edges, and shapes. A point is well-known text, such as
 * {@code POINT (23.7 38.1)}, and another shape stays the JSON that it is. No class of JanusGraph is needed here.
 */
public final class AnnalsIoRegistry extends AbstractIoRegistry {
    private static final AnnalsIoRegistry INSTANCE = new AnnalsIoRegistry();

    private AnnalsIoRegistry() {
        register(GraphSONIo.class, null, new JanusGraphModule());
    }

    /**
     * The registry, as TinkerPop looks for it by name.
     *
     * @return the only one
     */
    public static AnnalsIoRegistry instance() {
        return INSTANCE;
    }

    /** The id of an edge of JanusGraph. */
    static final class RelationIdentifier {
        private RelationIdentifier() {}
    }

    /** A point, or another shape. */
    static final class Geoshape {
        private Geoshape() {}
    }

    private static final class JanusGraphModule extends TinkerPopJacksonModule {
        private static final long serialVersionUID = 1;

        private JanusGraphModule() {
            super("annals-janusgraph");
            read(RelationIdentifier.class, new RelationIdentifierReader());
            read(Geoshape.class, new GeoshapeReader());
        }

        /** The class only names the type: values of it are texts. */
        @SuppressWarnings("unchecked")
        private void read(Class<?> named, JsonDeserializer<Object> reader) {
            addDeserializer((Class<Object>) named, reader);
        }

        @Override
        @SuppressWarnings("rawtypes") // The superclass has them.
        public Map<Class, String> getTypeDefinitions() {
            return Map.of(RelationIdentifier.class, "RelationIdentifier", Geoshape.class, "Geoshape");
        }

        @Override
        public String getTypeNamespace() {
            return "janusgraph";
        }
    }

    /** Reads {@code {"relationId": "4qp-368-7x1-3ag"}} as its text. */
    private static final class RelationIdentifierReader extends StdDeserializer<Object> {
        private static final long serialVersionUID = 1;

        private RelationIdentifierReader() {
            super(RelationIdentifier.class);
        }

        @Override
        public Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            String id = null;
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = parser.currentName();
                parser.nextToken();
                if ("relationId".equals(name)) {
                    id = parser.getText();
                }
            }
            if (id == null) {
                throw context.weirdStringException("", RelationIdentifier.class, "expected relationId, found none");
            }
            return id;
        }
    }

    /** Reads {@code {"coordinates": [23.7, 38.1]}} as a point. */
    private static final class GeoshapeReader extends StdDeserializer<Object> {
        private static final long serialVersionUID = 1;

        private GeoshapeReader() {
            super(Geoshape.class);
        }

        @Override
        public Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            JsonNode shape = parser.readValueAs(JsonNode.class);
            JsonNode coordinates = shape.path("coordinates");
            boolean isPoint = coordinates.size() == 2 && coordinates.path(0).isNumber() && coordinates.path(1).isNumber();
            return isPoint
                    ? "POINT (" + coordinates.get(0).asText() + " " + coordinates.get(1).asText() + ")"
                    : shape.toString();
        }
    }
}
