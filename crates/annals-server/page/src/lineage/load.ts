// Loads the lineage of an entity as of one time: first how much there is, and then, if it can be drawn, all of it.
import { ask, Failure, step } from "../api/client.ts";
import type { Entity, Json, Relationship } from "../api/forms.ts";
import { lines, TooLong } from "../api/lines.ts";
import { parametersOf, type Time } from "../state/time.ts";
import { type Flows, walked } from "./flow.ts";

/** Most entities that the page draws. */
export const DRAWN_MAX = 5_000;
/** Most relationships of a lineage: a dense graph has many more than entities. */
export const EDGES_MAX = 40_000;

/** An entity of a lineage, without its values. */
export interface Node {
    id: string;
    /** Its name if it has one, else its id. */
    name: string;
    type: string;
    /** Steps from the start, less than 0 against the flow. */
    distance: number;
    classified: string[];
    /** Differs if the content differs. */
    digest: number;
}

/** A relationship, from where things flow to where they flow. */
export interface Edge {
    id: string;
    type: string;
    from: string;
    to: string;
    digest: number;
}

/** A lineage as of one time. */
export interface Graph {
    nodes: Map<string, Node>;
    edges: Map<string, Edge>;
    /** Why it is empty: the start is not there at this time. */
    absent: Failure | null;
}

/** How many entities of a type there are in one direction. */
export interface Counted {
    type: string;
    count: number;
}

/** More than can be drawn. */
export class TooMany extends Error {
    constructor(
        readonly up: Counted[],
        readonly down: Counted[],
        readonly total: number,
        /** True if the entities could be drawn, and their relationships or values are too many. */
        readonly isDense = false,
    ) {
        super(`${total} entities`);
    }
}

/** What is asked for. */
export interface Question {
    id: string;
    up: number;
    down: number;
    flows: Flows;
    /** Subtypes with the chosen types that they are of. */
    flowOf: (type: string) => "out" | "in";
    time: Time;
}

/**
 * Loads a lineage. `report` gets the number of entities that are there already.
 *
 * Errors: `TooMany`; `Failure`.
 */
export async function load(question: Question, ending: AbortSignal, report: (count: number) => void): Promise<Graph> {
    const graph: Graph = { nodes: new Map(), edges: new Map(), absent: null };
    const { id, up, down, flows, time } = question;
    const query = parametersOf(time);
    let start: Entity;
    try {
        start = await ask<Entity>(`v1/entities/${step(id)}`, { query, signal: ending });
    } catch (error) {
        if (!(error instanceof Failure) || error.state !== "absent") throw error;
        return { ...graph, absent: error };
    }
    graph.nodes.set(id, nodeOf(start, 0));
    if (flows.size === 0) return graph;
    const depths: [number, boolean][] = [
        [up, false],
        [down, true],
    ];
    const counts = await Promise.all(depths.map(([depth, isDown]) => groups(question, depth, isDown, ending)));
    const total = counts.flat().reduce((sum, { count }) => sum + count, 1);
    const tooMany = (isDense: boolean) => new TooMany(counts[0] ?? [], counts[1] ?? [], total, isDense);
    if (total > DRAWN_MAX) throw tooMany(false);
    try {
        for (const [depth, isDown] of depths) {
            if (depth > 0) await walk(question, depth, isDown, graph, ending, report);
        }
    } catch (error) {
        if (error instanceof TooLong) throw tooMany(true);
        throw error;
    }
    return graph;
}

async function groups(question: Question, depth: number, isDown: boolean, ending: AbortSignal): Promise<Counted[]> {
    if (depth === 0) return [];
    const query = {
        ...parametersOf(question.time),
        type: walked(question.flows, isDown),
        depthMax: depth,
        groupBy: "@type",
        limit: 50,
    };
    const answer = await ask<{ groups: { value: string; count: number }[]; rest: { groups: number; count: number } }>(
        `v1/entities/${step(question.id)}/reach/groups`,
        { query, signal: ending },
    );
    const counted = answer.groups.map(({ value, count }) => ({ type: String(value), count }));
    return answer.rest.count > 0 ? [...counted, { type: "of other types", count: answer.rest.count }] : counted;
}

async function walk(
    question: Question,
    depth: number,
    isDown: boolean,
    graph: Graph,
    ending: AbortSignal,
    report: (count: number) => void,
): Promise<void> {
    const query = { ...parametersOf(question.time), type: walked(question.flows, isDown), depthMax: depth };
    type Line = { distance?: number; entity?: Entity; relationship?: Relationship };
    const path = `v1/entities/${step(question.id)}/neighborhood`;
    for await (const { distance = 0, entity, relationship } of lines<Line>(path, { query, signal: ending })) {
        if (entity && !graph.nodes.has(entity.id)) {
            graph.nodes.set(entity.id, nodeOf(entity, isDown ? distance : -distance));
            if (graph.nodes.size % 250 === 0) report(graph.nodes.size);
            // The graph may have grown since it was counted.
            if (graph.nodes.size > DRAWN_MAX) throw new TooLong();
        } else if (relationship) {
            const { id, type, from, to, properties } = relationship;
            const isWith = question.flowOf(type) === "out";
            graph.edges.set(id, { id, type, from: isWith ? from : to, to: isWith ? to : from, digest: digest(properties as Json) });
            if (graph.edges.size > EDGES_MAX) throw new TooLong();
        }
    }
}

const NAMES = ["name", "title", "label", "displayName"];

function nodeOf(entity: Entity, distance: number): Node {
    const properties = entity.properties as Record<string, Json>;
    const name = NAMES.map((known) => properties[known]).find((value) => typeof value === "string" && value.trim());
    const classified = Object.keys(entity.classifications ?? {});
    const classifications = Object.entries(entity.classifications ?? {}).map(([of, { properties: own }]) => [of, own]);
    return {
        id: entity.id,
        name: typeof name === "string" ? name.slice(0, 200) : entity.id,
        type: entity.type,
        distance,
        classified,
        digest: digest([entity.type, entity.status, properties, classifications] as Json),
    };
}

/** A number of 53 bits that differs for different values, but for one in billions (cyrb53). */
export function digest(value: Json): number {
    const text = JSON.stringify(value);
    let one = 0xdeadbeef;
    let two = 0x41c6ce57;
    for (let index = 0; index < text.length; index += 1) {
        const code = text.charCodeAt(index);
        one = Math.imul(one ^ code, 2654435761);
        two = Math.imul(two ^ code, 1597334677);
    }
    one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
    two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
    return 4294967296 * (2097151 & two) + (one >>> 0);
}
