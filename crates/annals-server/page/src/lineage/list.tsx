// The list beside the picture: the same entities and relationships, layer by layer, for keys and screen readers.
import { useEffect, useRef } from "preact/hooks";
import { Id, Link } from "../frame/link.tsx";
import { toEntity } from "../state/address.ts";
import { counted } from "../words/counts.ts";
import type { Merged, MergedNode } from "./difference.ts";
import { kindOfType, type Marks, SIGNS } from "./draw.ts";

/** A node in words: what screen readers say of the selected one. */
export function inWords(node: MergedNode): string {
    const change = node.change === "same" ? "" : `, ${node.change}`;
    return `${node.id}, ${node.type}, ${node.ins.length} in, ${node.outs.length} out${change}`;
}

/** The nodes by their distance from the start, farthest against the flow first. */
export function layersOf(merged: Merged): [number, MergedNode[]][] {
    const layers = new Map<number, MergedNode[]>();
    for (const node of merged.nodes.values()) {
        const layer = layers.get(node.distance);
        if (layer) layer.push(node);
        else layers.set(node.distance, [node]);
    }
    return [...layers].sort(([one], [other]) => one - other);
}

function layerInWords(distance: number): string {
    if (distance === 0) return "Start";
    const steps = counted(Math.abs(distance), "step");
    return distance < 0 ? `${steps} up` : `${steps} down`;
}

/** The list. Arrows move along it and along the edges, Enter opens. */
export function List(properties: { merged: Merged; marks: Marks; select: (id: string) => void; open: (id: string) => void }) {
    const { merged, marks, select, open } = properties;
    const list = useRef<HTMLDivElement>(null);
    const layers = layersOf(merged);
    const order = layers.flatMap(([, nodes]) => nodes);
    const current = merged.nodes.has(marks.selected) ? marks.selected : (order.find((node) => node.distance === 0) ?? order[0])?.id;
    const isInside = () => list.current?.contains(document.activeElement) ?? false;
    useEffect(() => {
        const row = list.current?.querySelector<HTMLElement>("button[tabindex='0']");
        if (isInside()) row?.focus();
        // On a narrow page the list is a part of the page, which stays where the reader is.
        const isScrolled = list.current && list.current.scrollHeight > list.current.clientHeight;
        if (isScrolled || isInside()) row?.scrollIntoView({ block: "nearest" });
    }, [current]);
    const press = (event: KeyboardEvent) => {
        const node = current === undefined ? undefined : merged.nodes.get(current);
        if (!node) return;
        const to = target(event.key, node, order);
        if (event.key === "Enter") open(node.id);
        else if (to !== undefined) select(to);
        else return;
        event.preventDefault();
    };
    return (
        <div class="list" ref={list} onKeyDown={press}>
            {layers.map(([distance, nodes]) => (
                <section key={distance}>
                    <h2>
                        {layerInWords(distance)} <small>{nodes.length}</small>
                    </h2>
                    <ul>
                        {nodes.map((node) => (
                            <li key={node.id} class={node.change} data-id={node.id} data-change={node.change}>
                                <button
                                    type="button"
                                    tabIndex={node.id === current ? 0 : -1}
                                    aria-pressed={node.id === marks.selected}
                                    onClick={() => select(node.id)}
                                    onDblClick={() => open(node.id)}
                                >
                                    <span class={`kind kind-${kindOfType(node.type)}`} aria-hidden="true" />
                                    {node.change !== "same" && <b class="sign" aria-hidden="true">{SIGNS[node.change]}</b>}
                                    <Id id={node.id} />
                                    {node.id === marks.marked && <em> marked</em>}
                                    {node.change !== "same" && <em> {node.change}</em>}
                                    <small>
                                        <bdi>{node.type}</bdi>, {node.ins.length} in, {node.outs.length} out
                                    </small>
                                </button>
                            </li>
                        ))}
                    </ul>
                </section>
            ))}
        </div>
    );
}

/** Where a key leads from a node. */
function target(key: string, node: MergedNode, order: MergedNode[]): string | undefined {
    const index = order.indexOf(node);
    switch (key) {
        case "ArrowDown":
            return order[index + 1]?.id;
        case "ArrowUp":
            return order[index - 1]?.id;
        case "ArrowRight":
            return node.outs[0]?.to;
        case "ArrowLeft":
            return node.ins[0]?.from;
        case "Home":
            return order[0]?.id;
        case "End":
            return order.at(-1)?.id;
        default:
            return undefined;
    }
}

/** The relationships of the selected entity, each with its other end. */
export function Edges({ node }: { node: MergedNode }) {
    const row = (edge: MergedNode["ins"][number], isIn: boolean) => (
        <li key={edge.id} class={edge.change} data-change={edge.change}>
            <span aria-hidden="true">{isIn ? "← " : "→ "}</span>
            <span class="unseen">{isIn ? "from " : "to "}</span>
            <small>
                <bdi>{edge.type}</bdi>
            </small>{" "}
            <Link to={toEntity(isIn ? edge.from : edge.to)}>
                <Id id={isIn ? edge.from : edge.to} />
            </Link>
            {edge.change !== "same" && (
                <em>
                    {" "}
                    {SIGNS[edge.change]} {edge.change}
                </em>
            )}
        </li>
    );
    return (
        <ul class="edges">
            {node.ins.map((edge) => row(edge, true))}
            {node.outs.map((edge) => row(edge, false))}
        </ul>
    );
}
