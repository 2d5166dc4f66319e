package annals.lab.egeria;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.odpi.openmetadata.adminservices.configuration.properties.RepositoryConformanceWorkbenchConfig;
import org.odpi.openmetadata.conformance.beans.ExceptionBean;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceProfileResults;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceRequirementResults;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceTestEvidence;
import org.odpi.openmetadata.conformance.workbenches.repository.RepositoryConformanceWorkPad;
import org.odpi.openmetadata.conformance.workbenches.repository.RepositoryConformanceWorkbench;

/**
 * Runs the repository workbench of Egeria's Conformance Test Suite on one of Egeria's repositories, within a budget. Beside it
 * is an in-memory repository, as that of the suite's own server: the two tell each other of every change.
 *
 * <p>Writes `conformance.json`: {"version": TEXT, "end": "all", "budget" or "stopped", "profiles": [{"profile": TEXT, and the
 * counts of Evidence, "requirements": [{"requirement": TEXT, and the counts}]}], "failures": [{"profile": TEXT, "requirement":
 * TEXT, "test": TEXT, "assertion": TEXT, "text": TEXT}]}.
 */
final class ConformanceSuite {
    private static final int FAILURES_MAX = 1_000;
    private static final int TEXT_MAX = 600;

    private volatile RepositoryConformanceWorkPad pad;
    private volatile Throwable failure;
    private volatile boolean isComplete;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 3) {
            System.err.println("expected SYSTEM FOLDER SECONDS");
            System.exit(2);
        }
        ConformanceSuite suite = new ConformanceSuite();
        Thread thread = new Thread(() -> suite.run(arguments[0]));
        thread.start();
        long spent = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
        thread.join(Math.max(1, Long.parseLong(arguments[2]) * 1_000 - spent));
        suite.end(Path.of(arguments[1]), thread.isAlive());
        Runtime.getRuntime().halt(suite.failure == null ? 0 : 1);
    }

    private void run(String system) {
        try {
            LocalRepository repository = new LocalRepository(system);
            LocalRepository own = new LocalRepository("memory", "cts");
            own.tell(repository);
            repository.tell(own);
            RepositoryConformanceWorkbenchConfig configuration = new RepositoryConformanceWorkbenchConfig();
            configuration.setTutRepositoryServerName(LocalRepository.SERVER);
            RepositoryConformanceWorkPad pad =
                new RepositoryConformanceWorkPad(LocalRepository.USER, null, LocalRepository.PAGE_MAX, own.log, configuration);
            pad.setTutServerType(LocalRepository.SERVER);
            pad.setTutMetadataCollectionId(repository.collectionId);
            pad.setTutRepositoryConnector(repository.connector);
            pad.setLocalMetadataCollectionId(own.collectionId);
            pad.setLocalRepositoryConnector(own.connector);
            this.pad = pad;
            new RepositoryConformanceWorkbench(pad).run();
            isComplete = true;
        } catch (Throwable error) {
            error.printStackTrace();
            failure = error;
        }
    }

    private void end(Path folder, boolean isBudgetSpent) throws Exception {
        List<Map<String, Object>> profiles = new ArrayList<>();
        List<Map<String, String>> failures = new ArrayList<>();
        for (OpenMetadataConformanceProfileResults profile : pad == null ? List.<OpenMetadataConformanceProfileResults>of() : pad.getProfileResults()) {
            List<OpenMetadataConformanceRequirementResults> requirements = Evidence.requirements(profile);
            Map<String, Object> counts = Evidence.counts("profile", profile.getName(), profile.getConformanceStatus(), requirements);
            List<Map<String, Object>> parts = new ArrayList<>();
            for (OpenMetadataConformanceRequirementResults one : requirements) {
                parts.add(Evidence.counts("requirement", one.getName(), one.getConformanceStatus(), List.of(one)));
                Evidence.negative(one).forEach(evidence -> failures.add(failure(profile, one, evidence)));
            }
            counts.put("requirements", parts);
            profiles.add(counts);
        }
        Map<String, Object> end = new LinkedHashMap<>();
        end.put("version", System.getProperty("lab.version", "unknown") + " on Java " + Runtime.version());
        end.put("end", isComplete ? "all" : isBudgetSpent ? "budget" : "stopped");
        end.put("profiles", profiles);
        end.put("failures", failures.subList(0, Math.min(FAILURES_MAX, failures.size())));
        Files.writeString(folder.resolve("conformance.json"), new ObjectMapper().writeValueAsString(end));
        for (Map<String, Object> one : profiles) {
            System.err.println(one.get("profile") + ": " + one.get("status") + ", " + one.get("positive") + " hold, " + one.get("negative")
                + " fail, " + one.get("notSupported") + " not supported");
        }
    }

    private static Map<String, String> failure(
        OpenMetadataConformanceProfileResults profile,
        OpenMetadataConformanceRequirementResults requirement,
        OpenMetadataConformanceTestEvidence evidence) {
        Map<String, String> failure = new LinkedHashMap<>();
        failure.put("profile", profile.getName());
        failure.put("requirement", requirement.getName());
        failure.put("test", evidence.getTestCaseId());
        failure.put("assertion", brief(evidence.getAssertionId()));
        ExceptionBean exception = evidence.getConformanceException();
        failure.put("text", brief(exception == null
            ? evidence.getPropertyName() + " = " + evidence.getPropertyValue()
            : exception.getExceptionClassName() + ": " + exception.getErrorMessage()));
        return failure;
    }

    /** The suite adds whole instances. */
    private static String brief(String text) {
        return text == null || text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX) + "…";
    }
}
