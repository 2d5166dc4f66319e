package annals.lab;

import com.eclipsesource.json.JsonObject;

/** What answers the requests of a suite by means of one system. */
interface Answers {
    /** Answers one request; whatever it throws becomes the answer `error`. */
    JsonObject answer(JsonObject request) throws Exception;

    /** Closes the system if the lab has not done so. */
    void leave() throws Exception;
}
