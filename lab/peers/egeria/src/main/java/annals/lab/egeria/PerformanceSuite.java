package annals.lab.egeria;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.odpi.openmetadata.adminservices.configuration.properties.RepositoryPerformanceWorkbenchConfig;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceProfileResults;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceRequirementResults;
import org.odpi.openmetadata.conformance.beans.OpenMetadataConformanceTestEvidence;
import org.odpi.openmetadata.conformance.workbenches.performance.PerformanceProfile;
import org.odpi.openmetadata.conformance.workbenches.performance.PerformanceWorkPad;
import org.odpi.openmetadata.conformance.workbenches.performance.PerformanceWorkbench;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;

/**
 * Runs Egeria's Performance Test Suite on one of Egeria's repositories, within a budget.
 *
 * <p>Writes `samples_ns.csv` (see TimedCollection) and then `end.json`: {"version": TEXT, "settings": {NAME: TEXT}, "end":
 * "all", "budget" or "stopped", "failures": [{"profile": TEXT, "method": TEXT, "text": TEXT}], "evidence": [{"profile": TEXT,
 * "status": TEXT, "positive": COUNT, "negative": COUNT, "notSupported": COUNT}]}. The method of a failure is empty if the suite
 * does not name it. The suite counts what is not supported as positive evidence.
 */
final class PerformanceSuite {
    /** Time for the evidence of the call that ended last. Units: milliseconds. */
    private static final long SETTLE_MS = 500;
    /** The text of an exception: its name, the method, and its message. */
    private static final Pattern EXCEPTION = Pattern.compile(
        "caught exception (\\w+) from method (\\w+) .*? Exception message was : (.*?)\\.\\s+Method was invoked", Pattern.DOTALL);

    private volatile TimedCollection timed;
    private volatile PerformanceWorkPad pad;
    private volatile Throwable failure;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 5) {
            System.err.println("expected SYSTEM INSTANCES PAGE FOLDER SECONDS");
            System.exit(2);
        }
        PerformanceSuite suite = new PerformanceSuite();
        Path folder = Path.of(arguments[3]);
        Thread thread = new Thread(() -> suite.run(
            arguments[0], Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), folder));
        thread.start();
        long spent = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
        thread.join(Math.max(1, Long.parseLong(arguments[4]) * 1_000 - spent));
        suite.end(thread.isAlive(), folder);
        // The threads of servers and stores would keep the process alive, and a call may be still running.
        Runtime.getRuntime().halt(suite.failure == null ? 0 : 1);
    }

    private void run(String system, int instances, int page, Path folder) {
        try {
            LocalRepository repository = new LocalRepository(system.replace("-rest", ""));
            OMRSRepositoryConnector measured = system.endsWith("-rest") ? RestServer.serve(repository) : repository.connector;
            RepositoryPerformanceWorkbenchConfig configuration = new RepositoryPerformanceWorkbenchConfig();
            configuration.setTutRepositoryServerName(LocalRepository.SERVER);
            configuration.setInstancesPerType(instances);
            configuration.setMaxSearchResults(page);
            configuration.setWaitBetweenScenarios(0);
            configuration.setProfilesToSkip(new ArrayList<>());
            configuration.setMethodsToSkip(new ArrayList<>());
            PerformanceWorkPad pad = new PerformanceWorkPad(LocalRepository.USER, null, 50, repository.log, configuration);
            pad.setTutServerType(LocalRepository.SERVER);
            pad.setTutMetadataCollectionId(repository.collectionId);
            TimedCollection timed = TimedCollection.of(measured.getMetadataCollection(), folder.resolve("samples_ns.csv"));
            pad.setTutRepositoryConnector(timed.connector(measured));
            this.timed = timed;
            this.pad = pad;
            new PerformanceWorkbench(pad).run();
        } catch (Throwable error) {
            error.printStackTrace();
            failure = error;
        }
    }

    private void end(boolean isBudgetSpent, Path folder) throws IOException, InterruptedException {
        if (timed != null) {
            timed.end();
        }
        if (isBudgetSpent) {
            // The suite adds its evidence for the last call, and then waits for ever.
            Thread.sleep(SETTLE_MS);
        }
        Map<String, Object> end = new LinkedHashMap<>();
        end.put("version", System.getProperty("lab.version", "unknown") + " on Java " + Runtime.version());
        end.put("settings", Map.of("java flags", ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> flag.startsWith("-X")).collect(Collectors.joining(" "))));
        end.put("end", isBudgetSpent ? "budget" : isComplete() ? "all" : "stopped");
        end.put("failures", failures());
        end.put("evidence", evidence());
        Files.writeString(folder.resolve("end.json"), new ObjectMapper().writeValueAsString(end));
    }

    /** True if the last test has run: the suite tells nobody that it gave up. */
    private boolean isComplete() {
        return pad != null && !requirements(PerformanceProfile.ENVIRONMENT).isEmpty();
    }

    private List<Map<String, String>> failures() {
        List<Map<String, String>> failures = new ArrayList<>();
        if (pad == null) {
            return failures;
        }
        for (PerformanceProfile profile : PerformanceProfile.values()) {
            for (OpenMetadataConformanceRequirementResults one : requirements(profile)) {
                for (OpenMetadataConformanceTestEvidence evidence : Evidence.negative(one)) {
                    failures.add(failure(profile, evidence));
                }
            }
        }
        return failures;
    }

    private List<Map<String, Object>> evidence() {
        List<Map<String, Object>> profiles = new ArrayList<>();
        for (PerformanceProfile profile : pad == null ? new PerformanceProfile[0] : PerformanceProfile.values()) {
            OpenMetadataConformanceProfileResults results = pad.getProfileResults(profile.getProfileName());
            profiles.add(Evidence.counts(
                "profile", profile.getProfileName(), results == null ? null : results.getConformanceStatus(), requirements(profile)));
        }
        return profiles;
    }

    private List<OpenMetadataConformanceRequirementResults> requirements(PerformanceProfile profile) {
        return Evidence.requirements(pad.getProfileResults(profile.getProfileName()));
    }

    private static Map<String, String> failure(PerformanceProfile profile, OpenMetadataConformanceTestEvidence evidence) {
        String text = evidence.getAssertionId() == null ? "no reason given" : evidence.getAssertionId();
        String method = evidence.getMethodName();
        Matcher exception = EXCEPTION.matcher(text);
        if (exception.find()) {
            method = exception.group(2);
            text = exception.group(1) + ": " + exception.group(3);
        }
        Map<String, String> failure = new LinkedHashMap<>();
        failure.put("profile", profile.getProfileName());
        failure.put("method", method == null ? "" : method);
        failure.put("text", text);
        return failure;
    }
}
