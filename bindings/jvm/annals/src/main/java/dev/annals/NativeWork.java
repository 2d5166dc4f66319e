package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

/** A transaction of the repository in this process. It belongs to one thread at a time. */
final class NativeWork implements Work {
    private static final int CREATE_ENTITY = 1;
    private static final int CREATE_RELATIONSHIP = 2;
    private static final int UPDATE = 3;
    private static final int DELETE = 4;
    private static final int OPERATIONS = 5;
    private static final int SETTINGS = 6;

    private final Handle handle;
    private final Handle repository;
    private final View view;

    private final List<String> ids = new ArrayList<>();

    NativeWork(Handle repository, Isolation isolation) {
        JsonObject settings = new JsonObject();
        settings.addProperty("serializable", isolation == Isolation.SERIALIZABLE);
        try {
            this.handle = new Handle("transaction", Native.begin(repository.number(), Json.bytes(settings)));
        } catch (AnnalsException error) {
            throw error.exact();
        }
        this.repository = repository;
        this.view = new NativeView(handle, repository);
    }

    @Override
    public String create(NewEntity entity) {
        if (!entity.isPlain()) {
            return operation(entity.operation("create", entity.id())).get(0);
        }
        PackWriter request =
                new PackWriter().text(entity.id()).text(entity.type()).properties(entity.properties());
        return created(CREATE_ENTITY, request);
    }

    @Override
    public String create(NewRelationship relationship) {
        if (!relationship.isPlain()) {
            return operation(relationship.operation("create", relationship.id()))
                    .get(0);
        }
        PackWriter request = new PackWriter()
                .text(relationship.id())
                .text(relationship.type())
                .text(relationship.from())
                .text(relationship.to())
                .properties(relationship.properties());
        return created(CREATE_RELATIONSHIP, request);
    }

    private String created(int operation, PackWriter request) {
        String id = new PackReader(apply(operation, request.bytes())).text();
        ids.add(id);
        return id;
    }

    @Override
    public void update(Patch patch) {
        if (!patch.isPlain()) {
            operation(patch.operation());
            return;
        }
        PackWriter request = instance(patch.instance());
        request.u32(patch.steps().size());
        for (Patch.Step step : patch.steps()) {
            request.u8(step.verb().ordinal()).text(step.name());
            if (step.value() != null) {
                request.value(step.value());
            }
        }
        apply(UPDATE, request.bytes());
    }

    @Override
    public void remove(InstanceId instance, boolean isPurge) {
        apply(DELETE, instance(instance).u8(isPurge ? 1 : 0).bytes());
    }

    private static PackWriter instance(InstanceId instance) {
        return new PackWriter().u8(instance.kind().ordinal()).text(instance.id());
    }

    @Override
    public List<String> operation(JsonObject operation) {
        JsonArray operations = new JsonArray();
        operations.add(operation);
        byte[] answer = apply(OPERATIONS, Json.bytes(operations));
        List<String> created = Json.texts(Json.object(Json.parse(answer)), "ids");
        ids.addAll(created);
        return created;
    }

    @Override
    public void settings(JsonObject settings) {
        apply(SETTINGS, Json.bytes(settings));
    }

    private byte[] apply(int operation, byte[] request) {
        try {
            repository.number();
            return Native.apply(handle.number(), operation, request);
        } catch (AnnalsException error) {
            throw error.exact();
        } finally {
            Reference.reachabilityFence(handle);
            Reference.reachabilityFence(repository);
        }
    }

    @Override
    public View view() {
        return view;
    }

    @Override
    public Receipt commit() {
        try {
            repository.number();
            PackReader reader = new PackReader(Native.commit(handle.number()));
            return new Receipt(reader.i64(), reader.instant(), List.copyOf(ids));
        } catch (AnnalsException error) {
            throw error.exact();
        } finally {
            handle.close();
            Reference.reachabilityFence(repository);
        }
    }

    @Override
    public void close() {
        handle.close();
    }
}
