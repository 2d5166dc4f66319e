// The types that there are, and how many instances of each the client may see.
import { membersOf, parametersOf, type Time } from "../state/time.ts";
import { ask, step, token } from "./client.ts";
import type { Page, Relationship, Stats } from "./forms.ts";
import { lines } from "./lines.ts";

/** A declared type, as far as the page looks at it. */
export interface Declared {
    kind: string;
    name: string;
    supertypes: string[];
    attributes?: { name: string }[];
}

/** Counts by type. */
export interface Counts extends Pick<Stats, "entities" | "relationships" | "classifications"> {
    /** Null for a client with grants: it learns no position. */
    position: number | null;
    instant: string | null;
    /** False if there may be more types: those that nobody declared. */
    isWhole: boolean;
}

/** Most relationships of an entity that are looked at for their types. */
const LOOKED_AT_MAX = 1_000;

/** Who the client is does not change while it has one token. */
let known: { token: string; mayCount: Promise<boolean> } | null = null;

/** True if the client may ask for counts of everything; a client with grants counts what it sees, type by type. */
async function mayCount(): Promise<boolean> {
    if (known?.token !== token.value) {
        const mayCount = ask<{ verbs: string[] }>("v1/whoami").then(({ verbs }) => verbs.includes("read") || verbs.includes("operate"));
        known = { token: token.value, mayCount };
        // A failure is not kept.
        mayCount.catch(() => (known = null));
    }
    return known.mayCount;
}

/** The declared types. */
export async function declaredTypes(signal: AbortSignal): Promise<Declared[]> {
    return (await ask<Page<Declared>>("v1/types", { signal })).items;
}

/** Counts all types as of a time. */
export async function countTypes(time: Time, signal: AbortSignal): Promise<Counts> {
    if (await mayCount()) return { ...(await ask<Stats>("v1/stats", { query: parametersOf(time), signal })), isWhole: true };
    const declared = await declaredTypes(signal);
    const count = async (kind: string, body: (name: string) => object) => {
        const names = declared.filter((type) => type.kind === kind).map((type) => type.name);
        const counted = names.map(async (name): Promise<[string, number]> => {
            const asked = { ...body(name), ...membersOf(time) };
            return [name, (await ask<{ count: number }>("v1/count", { body: asked, signal })).count];
        });
        const byType = Object.fromEntries(await Promise.all(counted));
        return { byType, total: Object.values(byType).reduce((sum, one) => sum + one, 0) };
    };
    const [entities, relationships, classifications] = await Promise.all([
        count("entity", (type) => ({ kind: "entity", type })),
        count("relationship", (type) => ({ kind: "relationship", type })),
        count("classification", (classified) => ({ kind: "entity", classified })),
    ]);
    return { entities, relationships, classifications, position: null, instant: null, isWhole: false };
}

/** The relationship types with their counts; a client with grants also learns the undeclared ones of the entity `id`. */
export async function relationshipTypes(id: string, time: Time, signal: AbortSignal): Promise<Record<string, number>> {
    const { relationships, isWhole } = await countTypes(time, signal);
    const types = { ...relationships.byType };
    if (isWhole) return types;
    const query = { ...parametersOf(time), limit: LOOKED_AT_MAX };
    try {
        for await (const line of lines<Partial<Relationship>>(`v1/entities/${step(id)}/relationships`, { query, signal })) {
            if (line.type) types[line.type] ||= 1;
        }
    } catch {
        // The view itself asks for the entity, and shows why it is not there.
        signal.throwIfAborted();
    }
    return types;
}
