package annals.lab.egeria;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceProfileResults;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceRequirementResults;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceStatus;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceTestEvidence;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceTestEvidenceType;

/** Counts what Egeria's suites found. They count what is not supported as positive evidence. */
final class Evidence {
    private Evidence() {}

    static List<OpenMetadataConformanceRequirementResults> requirements(OpenMetadataConformanceProfileResults results) {
        List<OpenMetadataConformanceRequirementResults> requirements = results == null ? null : results.getRequirementResults();
        return requirements == null ? List.of() : requirements;
    }

    static List<OpenMetadataConformanceTestEvidence> negative(OpenMetadataConformanceRequirementResults requirement) {
        List<OpenMetadataConformanceTestEvidence> found = requirement.getNegativeTestEvidence();
        return found == null ? List.of() : found;
    }

    /** Shape: {KIND: NAME, "status": TEXT, "positive": COUNT, "negative": COUNT, "notSupported": COUNT}. */
    static Map<String, Object> counts(
        String kind, String name, OpenMetadataConformanceStatus status, List<OpenMetadataConformanceRequirementResults> requirements) {
        long positive = 0;
        long negative = 0;
        long notSupported = 0;
        for (OpenMetadataConformanceRequirementResults one : requirements) {
            List<OpenMetadataConformanceTestEvidence> found = one.getPositiveTestEvidence();
            positive += found == null ? 0 : found.size();
            negative += negative(one).size();
            notSupported += found == null ? 0 : found.stream()
                .filter(evidence -> evidence.getTestEvidenceType() == OpenMetadataConformanceTestEvidenceType.NOT_SUPPORTED_FUNCTION)
                .count();
        }
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put(kind, name);
        counts.put("status", status == null ? "" : status.name());
        counts.put("positive", positive);
        counts.put("negative", negative);
        counts.put("notSupported", notSupported);
        return counts;
    }
}
