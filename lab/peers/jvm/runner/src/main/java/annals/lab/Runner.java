package annals.lab;

import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.ParseException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.Locale;

/** Reads requests from standard input, one a line, and writes one answer a line: the protocol of ADAPTERS.md. */
public final class Runner {
    private Runner() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        // Whatever a system prints belongs to the log.
        System.setOut(System.err);
        if (arguments.length != 1) {
            System.err.println("usage: Runner TARGET");
            System.exit(2);
        }
        Answers requests;
        try {
            requests = answers(arguments[0]);
        } catch (IllegalArgumentException error) {
            System.err.println(message(error));
            System.exit(2);
            return;
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(answer(requests, line));
            answers.flush();
        }
        requests.leave();
        // Some systems leave threads behind that would keep the process alive.
        System.exit(0);
    }

    /**
     * A target is the name of a system, or this name, a dash and a form of it: `sqlite`, `sqlite-tuned`. The form
     * `documents` answers the requests of another suite, `methods`.
     */
    private static Answers answers(String target) throws Exception {
        String[] parts = target.split("-", 2);
        String name = parts[0].substring(0, 1).toUpperCase(Locale.ROOT) + parts[0].substring(1);
        String form = parts.length > 1 ? parts[1] : "";
        try {
            if (form.equals("documents")) {
                return (Answers) Class.forName("annals.lab." + name + "Documents").getConstructor().newInstance();
            }
            Class<?> found = Class.forName("annals.lab." + name + "Peer");
            return new Requests((Peer) found.getConstructor(String.class).newInstance(form));
        } catch (ClassNotFoundException error) {
            throw new IllegalArgumentException("target " + target + ": no class " + error.getMessage() + " here");
        } catch (InvocationTargetException error) {
            throw new IllegalArgumentException("target " + target + ": " + message(error.getCause()), error);
        }
    }

    private static JsonObject answer(Answers requests, String line) {
        try {
            return requests.answer(parse(line));
        } catch (Skip skip) {
            return new JsonObject().add("skip", skip.getMessage());
        } catch (Throwable error) {
            // An error of the machine, such as a full heap, is an answer too: the lab reports it.
            if (!(error instanceof IllegalArgumentException || error instanceof FileSystemException)) {
                error.printStackTrace();
            }
            return new JsonObject().add("error", message(error));
        }
    }

    private static JsonObject parse(String line) {
        try {
            return Json.parse(line).asObject();
        } catch (ParseException | UnsupportedOperationException error) {
            throw new IllegalArgumentException("a request is a JSON object, found " + line);
        }
    }

    /** The text of an error with its kind, because many systems throw errors without a text. */
    static String message(Throwable error) {
        String text = error.getMessage();
        if (error instanceof IllegalArgumentException && text != null) {
            return text;
        }
        String kind = error.getClass().getSimpleName();
        if (error instanceof IllegalStateException && error.getCause() != null && text != null) {
            return text;
        }
        Throwable cause = error.getCause();
        String reason = cause == null || cause == error ? "" : ", caused by " + message(cause);
        return text == null ? kind + reason : kind + ": " + text + reason;
    }
}
