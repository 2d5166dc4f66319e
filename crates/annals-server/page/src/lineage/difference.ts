// Puts the lineages of two times together, and finds what is only on a path.
import type { Edge, Graph, Node } from "./load.ts";

/** How something differs from the time that is compared with. */
export type Change = "same" | "added" | "removed" | "changed";

export interface MergedNode extends Node {
    change: Change;
    /** The relationships that flow to it and from it. */
    ins: MergedEdge[];
    outs: MergedEdge[];
}

export interface MergedEdge extends Edge {
    change: Change;
}

/** The lineages of one or two times together. */
export interface Merged {
    nodes: Map<string, MergedNode>;
    edges: MergedEdge[];
}

/** What is in `after`, and what only was in `before`. */
export function merge(before: Graph | null, after: Graph): Merged {
    const nodes = new Map<string, MergedNode>();
    const changed = <T extends { digest: number }>(old: T | undefined, now: T): Change =>
        before === null ? "same" : old === undefined ? "added" : old.digest === now.digest ? "same" : "changed";
    for (const node of after.nodes.values()) {
        nodes.set(node.id, { ...node, change: changed(before?.nodes.get(node.id), node), ins: [], outs: [] });
    }
    for (const node of before?.nodes.values() ?? []) {
        if (!nodes.has(node.id)) nodes.set(node.id, { ...node, change: "removed", ins: [], outs: [] });
    }
    const edges: MergedEdge[] = [];
    for (const edge of after.edges.values()) {
        edges.push({ ...edge, change: changed(before?.edges.get(edge.id), edge) });
    }
    for (const edge of before?.edges.values() ?? []) {
        if (!after.edges.has(edge.id)) edges.push({ ...edge, change: "removed" });
    }
    return linked(nodes, edges);
}

/** Gives each node its relationships. Relationships without both ends are left out. */
function linked(nodes: Map<string, MergedNode>, edges: MergedEdge[]): Merged {
    const kept = edges.filter((edge) => nodes.has(edge.from) && nodes.has(edge.to));
    for (const edge of kept) {
        nodes.get(edge.from)?.outs.push(edge);
        nodes.get(edge.to)?.ins.push(edge);
    }
    return { nodes, edges: kept };
}

/** How many there are of each change. */
export function counts(merged: Merged): Record<Change, { nodes: number; edges: number }> {
    const counted = {
        same: { nodes: 0, edges: 0 },
        added: { nodes: 0, edges: 0 },
        removed: { nodes: 0, edges: 0 },
        changed: { nodes: 0, edges: 0 },
    };
    for (const node of merged.nodes.values()) counted[node.change].nodes += 1;
    for (const edge of merged.edges) counted[edge.change].edges += 1;
    return counted;
}

/** Only the entities that differ, or have a relationship that differs. Their relationships stay as they are. */
export function differences(merged: Merged): Merged {
    const isDifferent = (one: { change: Change }) => one.change !== "same";
    const nodes = [...merged.nodes].filter(([, node]) => [node, ...node.ins, ...node.outs].some(isDifferent));
    return { nodes: new Map(nodes), edges: merged.edges.filter(isDifferent) };
}

/** Only what lies on a way with the flow from one of two entities to the other; null if there is no way. */
export function between(merged: Merged, one: string, other: string): Merged | null {
    for (const [from, to] of [
        [one, other],
        [other, one],
    ] as const) {
        const down = reached(merged, from, (node) => node.outs.map((edge) => edge.to));
        if (!down.has(to)) continue;
        const up = reached(merged, to, (node) => node.ins.map((edge) => edge.from));
        const nodes = new Map<string, MergedNode>();
        for (const id of down) {
            const node = merged.nodes.get(id);
            if (up.has(id) && node) nodes.set(id, { ...node, ins: [], outs: [] });
        }
        return linked(nodes, merged.edges);
    }
    return null;
}

function reached(merged: Merged, start: string, next: (node: MergedNode) => string[]): Set<string> {
    const seen = new Set([start]);
    for (const id of seen) {
        const node = merged.nodes.get(id);
        // A set goes on to what is added while it is walked through.
        if (node) for (const one of next(node)) seen.add(one);
    }
    return seen;
}
