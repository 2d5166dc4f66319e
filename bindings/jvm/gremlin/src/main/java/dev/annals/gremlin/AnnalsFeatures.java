package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;

/** The features of {@link AnnalsGraph}; docs/gremlin.md explains those that are false. */
public final class AnnalsFeatures implements Graph.Features {
    @Override
    public GraphFeatures graph() {
        return new OfGraph();
    }

    @Override
    public VertexFeatures vertex() {
        return new OfVertices();
    }

    @Override
    public EdgeFeatures edge() {
        return new OfEdges();
    }

    @Override
    public String toString() {
        return StringFactory.featureString(this);
    }

    /** Features of a graph as a whole. */
    public static final class OfGraph implements GraphFeatures {
        @Override
        public boolean supportsComputer() {
            return false;
        }

        @Override
        public boolean supportsOrderabilitySemantics() {
            return true;
        }

        @Override
        public boolean supportsServiceCall() {
            return true;
        }

        @Override
        public VariableFeatures variables() {
            return new OfVariables();
        }
    }

    /** Variables of a graph: there are none. */
    public static final class OfVariables implements VariableFeatures {
        @Override
        public boolean supportsVariables() {
            return false;
        }

        @Override
        public boolean supportsBooleanValues() {
            return false;
        }

        @Override
        public boolean supportsByteValues() {
            return false;
        }

        @Override
        public boolean supportsDoubleValues() {
            return false;
        }

        @Override
        public boolean supportsFloatValues() {
            return false;
        }

        @Override
        public boolean supportsIntegerValues() {
            return false;
        }

        @Override
        public boolean supportsLongValues() {
            return false;
        }

        @Override
        public boolean supportsMapValues() {
            return false;
        }

        @Override
        public boolean supportsMixedListValues() {
            return false;
        }

        @Override
        public boolean supportsBooleanArrayValues() {
            return false;
        }

        @Override
        public boolean supportsByteArrayValues() {
            return false;
        }

        @Override
        public boolean supportsDoubleArrayValues() {
            return false;
        }

        @Override
        public boolean supportsFloatArrayValues() {
            return false;
        }

        @Override
        public boolean supportsIntegerArrayValues() {
            return false;
        }

        @Override
        public boolean supportsStringArrayValues() {
            return false;
        }

        @Override
        public boolean supportsLongArrayValues() {
            return false;
        }

        @Override
        public boolean supportsSerializableValues() {
            return false;
        }

        @Override
        public boolean supportsStringValues() {
            return false;
        }

        @Override
        public boolean supportsUniformListValues() {
            return false;
        }
    }

    /** Features of vertices. */
    public static final class OfVertices implements VertexFeatures {
        @Override
        public VertexPropertyFeatures properties() {
            return new OfVertexProperties();
        }

        @Override
        public VertexProperty.Cardinality getCardinality(String key) {
            return VertexProperty.Cardinality.single;
        }

        @Override
        public boolean supportsMultiProperties() {
            return false;
        }

        @Override
        public boolean supportsDuplicateMultiProperties() {
            return false;
        }

        @Override
        public boolean supportsMetaProperties() {
            return false;
        }

        @Override
        public boolean supportsNullPropertyValues() {
            return false;
        }

        @Override
        public boolean supportsUuidIds() {
            return false;
        }

        @Override
        public boolean supportsCustomIds() {
            return false;
        }

        @Override
        public boolean supportsAnyIds() {
            return false;
        }

        @Override
        public boolean supportsUpsert() {
            return false;
        }

        @Override
        public boolean willAllowId(Object id) {
            return Ids.areAllowed(id);
        }
    }

    /** Features of edges. */
    public static final class OfEdges implements EdgeFeatures {
        @Override
        public EdgePropertyFeatures properties() {
            return new OfEdgeProperties();
        }

        @Override
        public boolean supportsNullPropertyValues() {
            return false;
        }

        @Override
        public boolean supportsUuidIds() {
            return false;
        }

        @Override
        public boolean supportsCustomIds() {
            return false;
        }

        @Override
        public boolean supportsAnyIds() {
            return false;
        }

        @Override
        public boolean supportsUpsert() {
            return false;
        }

        @Override
        public boolean willAllowId(Object id) {
            return Ids.areAllowed(id);
        }
    }

    /** Features of properties of vertices. */
    public static final class OfVertexProperties implements VertexPropertyFeatures, Plain {
        @Override
        public boolean supportsNullPropertyValues() {
            return false;
        }

        @Override
        public boolean supportsUserSuppliedIds() {
            return false;
        }

        @Override
        public boolean supportsNumericIds() {
            return false;
        }

        @Override
        public boolean supportsUuidIds() {
            return false;
        }

        @Override
        public boolean supportsCustomIds() {
            return false;
        }

        @Override
        public boolean supportsAnyIds() {
            return false;
        }

        @Override
        public boolean willAllowId(Object id) {
            return false;
        }
    }

    /** Features of properties of edges. */
    public static final class OfEdgeProperties implements EdgePropertyFeatures, Plain {}

    /** Values of properties: data that every door can read. */
    private interface Plain extends DataTypeFeatures {
        @Override
        default boolean supportsSerializableValues() {
            return false;
        }
    }
}
