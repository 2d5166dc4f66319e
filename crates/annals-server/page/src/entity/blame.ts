// Finds out which version last set each property of an entity, from its history.
import { step } from "../api/client.ts";
import type { Entity, Json, Version } from "../api/forms.ts";
import { lines } from "../api/lines.ts";

/** Most versions that are looked at: each may have megabytes. */
const VERSIONS_MAX = 2_000;

/** For each property the version that set it to the value that it has. Without a row it is older than what was looked at. */
export type Blame = Map<string, Version>;

/**
 * The version that set each property of `entity`, which is as of any time: each version names the one that it changed, so that
 * corrections of the past are followed as they were made. The walk ends as soon as all is known.
 */
export async function blame(entity: Entity, ending: AbortSignal): Promise<Blame> {
    const found: Blame = new Map();
    const open = new Set(Object.keys(entity.properties));
    let wanted = entity.version;
    let child: Version | null = null;
    let values = entity.properties as Record<string, Json>;
    let count = 0;
    const asking = { query: { content: true }, signal: ending };
    for await (const version of lines<Version>(`v1/entities/${step(entity.id)}/history`, asking)) {
        if (open.size === 0 || count >= VERSIONS_MAX) break;
        count += 1;
        if (version.version !== wanted) continue;
        wanted = version.base;
        const content = version.content as Entity | undefined;
        // A deletion has no content: the restoration behind it took over what was there before.
        if (content) {
            const before = content.properties as Record<string, Json>;
            if (child) settle(found, open, values, before, child);
            child = version;
            values = before;
        }
        if (version.base === 0 && child) {
            for (const name of open) found.set(name, child);
            break;
        }
    }
    return found;
}

/** Gives `child` the properties that `before` has not, or with other values. */
function settle(
    found: Blame,
    open: Set<string>,
    values: Record<string, Json>,
    before: Record<string, Json>,
    child: Version,
): void {
    for (const name of [...open]) {
        if (Object.hasOwn(before, name) && JSON.stringify(before[name]) === JSON.stringify(values[name])) continue;
        found.set(name, child);
        open.delete(name);
    }
}
