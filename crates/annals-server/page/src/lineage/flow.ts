// The relationship types of a lineage, each with the direction in which things flow along it.

/** The direction of the flow: with the relationship, or against it. */
export type Flow = "out" | "in";

/** The types that a lineage follows. Shape: name of the type to the direction of the flow. */
export type Flows = Map<string, Flow>;

/** Reads the list of an address: `reads:in,writes:out`. In a name, `%2C` is a comma and `%25` a percent sign. */
export function parseFlows(text: string): Flows {
    const flows: Flows = new Map();
    for (const part of text.split(",")) {
        const found = /^(.+?)(?::(in|out))?$/.exec(part.trim());
        if (!found) continue;
        const name = (found[1] as string).replaceAll("%2C", ",").replaceAll("%25", "%");
        flows.set(name, (found[2] as Flow | undefined) ?? "out");
    }
    return flows;
}

/** Writes a list that `parseFlows` reads. */
export function formatFlows(flows: Flows): string {
    return [...flows].map(([name, flow]) => `${name.replaceAll("%", "%25").replaceAll(",", "%2C")}:${flow}`).join(",");
}

/** The types as a walk takes them, along the flow or against it. */
export function walked(flows: Flows, isDown: boolean): string[] {
    return [...flows].map(([name, flow]) => `${name}:${isDown === (flow === "out") ? "out" : "in"}`);
}

/** Names of relationships that point from a thing to what it is made from. */
const AGAINST = /^(\w*[-_.:])?(reads?|consumes?|uses?|used|inputs?|requires?|(pre-?)?depends?|derived|imports?|built|based|refers?|wasDerivedFrom|dependsOn|derivedFrom)([-_.: A-Z]|$)/i;
/** Names of relationships that point from a thing to what it makes. */
const WITH = /^(\w*[-_.:])?(writes?|produces?|outputs?|feeds?|publishes|generates?|creates?|makes?|flows?|DataFlow)([-_.: A-Z]|$)/i;

/**
 * A guess for a graph with these relationship types, by their names. If no name tells of a flow, all types are followed as they
 * point.
 */
export function guess(types: readonly string[]): Flows {
    const told = types.flatMap((name): [string, Flow][] =>
        AGAINST.test(name) ? [[name, "in"]] : WITH.test(name) ? [[name, "out"]] : [],
    );
    return new Map(told.length > 0 ? told : types.map((name) => [name, "out"]));
}
