package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.stream.Collectors;

/** Reads the state after the commit of a candidate. Its searches are in the text form: only those name a candidate. */
final class CandidateView extends HttpView {
    private final Query candidate;

    CandidateView(Client client, Query candidate) {
        super(client, AsOf.NOW, candidate);
        this.candidate = candidate;
    }

    @Override
    Condition byId(List<String> ids) {
        String quoted = ids.stream()
                .map(id -> "'" + id.replace("\\", "\\\\").replace("'", "\\'") + "'")
                .collect(Collectors.joining(", "));
        return Condition.text("@id in (" + quoted + ")");
    }

    @Override
    public <T extends Instance> Page<T> find(Find<T> find) {
        Query query = candidate;
        JsonObject request = find.request();
        request.remove("kind");
        for (String name : request.keySet()) {
            JsonElement member = request.get(name);
            if (name.equals("only")) {
                throw unfit("only in the text of the search", member);
            }
            for (JsonElement one : member instanceof JsonArray items ? items : List.of(member)) {
                if (!one.isJsonPrimitive()) {
                    throw unfit("conditions in the text form", one);
                }
                query = query.and(name, one.getAsString());
            }
        }
        return Page.of(open().get(query.on("/v1/" + find.kind().path())), find::item);
    }

    private static AnnalsException unfit(String expected, JsonElement found) {
        return AnnalsException.invalid("search of a candidate: expected " + expected + ", found " + found
                + "; write it with Find.where(String) or Find.text");
    }

    /** Counts the hits one by one. */
    @Override
    public long count(Find<?> find) {
        return counted(find);
    }

    private <T extends Instance> long counted(Find<T> find) {
        return Snapshot.stream(find, this).count();
    }
}
