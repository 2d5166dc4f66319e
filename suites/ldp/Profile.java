// Runs one profile of the W3C LDP test suite against one container, and prints one line for each result.

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.testng.IConfigurationListener;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.ITestContext;
import org.testng.ITestListener;
import org.testng.ITestResult;
import org.testng.TestNG;
import org.w3.ldp.testsuite.LdpTestSuite;
import org.w3.ldp.testsuite.test.MemberResourceTest;
import org.w3.ldp.testsuite.test.NonRDFSourceTest;

/**
 * Arguments: the profile (basic, direct or indirect), the container's URL, a folder for the suite's own reports, and
 * optionally option=value of the suite, for instance postTtl=post.ttl for a file on the class path.
 *
 * Each line of standard output is RESULT, the state, the level, class.method and the reason, with tabs between them.
 */
public class Profile {
    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put(arguments[0], null);
        options.put("server", arguments[1]);
        options.put("output", arguments[2]);
        options.put("non-rdf", null);
        for (String option : Arrays.asList(arguments).subList(3, arguments.length)) {
            String[] parts = option.split("=", 2);
            options.put(parts[0], parts[1]);
        }
        org.apache.log4j.Logger.getRootLogger().setLevel(org.apache.log4j.Level.OFF);
        LdpTestSuite suite = new LdpTestSuite(options);
        // The suite takes listeners by class name only, and this class is not on its class path.
        Field field = LdpTestSuite.class.getDeclaredField("testng");
        field.setAccessible(true);
        TestNG testng = (TestNG) field.get(suite);
        testng.setVerbose(0);
        testng.addListener(new Setup(arguments[0], arguments[1], options.get("memberTtl")));
        testng.addListener(new Printer());
        suite.run();
        System.out.flush();
        System.exit(0);
    }

    /**
     * Calls the preparation of MemberResourceTest and NonRDFSourceTest. Version 0.1.1 declares it as `setup` before the suite, as
     * it does the one of their base class, and TestNG runs one of several such methods of one name. Without this the suite skips
     * both classes on every server.
     */
    static class Setup implements IInvokedMethodListener {
        private final Map<String, String> containers = new HashMap<>();
        private final String memberTtl;
        private final Set<Object> ready = new HashSet<>();

        Setup(String profile, String container, String memberTtl) {
            containers.put(profile, container);
            this.memberTtl = memberTtl;
        }

        @Override
        public void beforeInvocation(IInvokedMethod method, ITestResult result) {
            Object instance = method.getTestMethod().getInstance();
            if (!method.getTestMethod().isBeforeClassConfiguration() || !ready.add(instance)) {
                return;
            }
            String basic = containers.get("basic");
            String direct = containers.get("direct");
            String indirect = containers.get("indirect");
            if (instance instanceof MemberResourceTest) {
                ((MemberResourceTest) instance).setup(null, direct, indirect, basic, memberTtl);
            } else if (instance instanceof NonRDFSourceTest) {
                ((NonRDFSourceTest) instance).setup(basic, direct, indirect);
            }
        }

        @Override
        public void afterInvocation(IInvokedMethod method, ITestResult result) {}
    }

    static class Printer implements ITestListener, IConfigurationListener {
        /** A preparation failed, so the suite skips all tests of its class. */
        @Override
        public void onConfigurationFailure(ITestResult result) {
            print("SETUP", result);
        }

        @Override
        public void onConfigurationSuccess(ITestResult result) {}

        @Override
        public void onConfigurationSkip(ITestResult result) {}

        @Override
        public void onTestSuccess(ITestResult result) {
            print("PASS", result);
        }

        @Override
        public void onTestFailure(ITestResult result) {
            print("FAIL", result);
        }

        @Override
        public void onTestSkipped(ITestResult result) {
            print("SKIP", result);
        }

        @Override
        public void onTestFailedButWithinSuccessPercentage(ITestResult result) {
            print("FAIL", result);
        }

        @Override
        public void onTestStart(ITestResult result) {}

        @Override
        public void onStart(ITestContext context) {}

        @Override
        public void onFinish(ITestContext context) {}

        private static void print(String state, ITestResult result) {
            String level = "NONE";
            for (String group : result.getMethod().getGroups()) {
                if (group.equals("MUST") || group.equals("SHOULD") || group.equals("MAY")) {
                    level = group;
                }
            }
            String name = result.getTestClass().getRealClass().getSimpleName() + "." + result.getMethod().getMethodName();
            System.out.println(String.join("\t", "RESULT", state, level, name, reason(result.getThrowable())));
        }

        /** The first 300 characters of the innermost message, on one line. */
        private static String reason(Throwable error) {
            while (error instanceof InvocationTargetException && error.getCause() != null) {
                error = error.getCause();
            }
            if (error == null) {
                return "";
            }
            String text = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
            text = text.replaceAll("\\s+", " ").trim();
            return text.length() > 300 ? text.substring(0, 300) + "…" : text;
        }
    }
}
