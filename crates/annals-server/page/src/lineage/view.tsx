// The lineage: layers from left to right as of one time, or the difference of two; a picture, and a list beside it.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { ask, step } from "../api/client.ts";
import type { Page, Relationship } from "../api/forms.ts";
import { declaredTypes, relationshipTypes } from "../api/types.ts";
import { type Action, notice, ofView } from "../frame/actions.ts";
import { Id, Link } from "../frame/link.tsx";
import { Empty, Failed, Show } from "../frame/states.tsx";
import { address, go, toEntity, toLineage } from "../state/address.ts";
import { scope } from "../state/commits.ts";
import { formatTime, NOW, parseTime, type Time, timeInWords, timeOf } from "../state/time.ts";
import { counted } from "../words/counts.ts";
import { SIGNS } from "./draw.ts";
import { between, counts, differences, type Merged, merge } from "./difference.ts";
import { type Flow, type Flows, formatFlows, guess, parseFlows } from "./flow.ts";
import { inWords, List } from "./list.tsx";
import { type Graph, load, TooMany } from "./load.ts";
import { type Mover, Picture } from "./picture.tsx";
import { Selected } from "./selected.tsx";
import { Toolbar } from "./toolbar.tsx";
import { Large } from "./too_many.tsx";

/** The relationship types: how many there are of each now, and what they are subtypes of. */
interface Types {
    known: Record<string, number>;
    supertypes: Map<string, string[]>;
}

/** The view. */
export function LineageView() {
    const { id } = address.value;
    const answer = useAnswer(id ? `relationship types ${id}` : null, (signal) => readTypes(id, signal));
    if (!id) {
        return (
            <Empty>
                <h1>No entity is chosen</h1>
                <p>
                    <Link to={{ view: "search" }}>Search for one</Link> to see what leads to it and what follows from it.
                </p>
            </Empty>
        );
    }
    return (
        <>
            <h1 class="lineage-title">
                Lineage of <Id id={id} />
            </h1>
            <Show answer={answer} what="the types">
                {(types) => <OfTypes types={types} />}
            </Show>
        </>
    );
}

async function readTypes(id: string, signal: AbortSignal): Promise<Types> {
    const [counts, all] = await Promise.all([relationshipTypes(id, NOW, signal), declaredTypes(signal)]);
    const declared = all.filter(({ kind }) => kind === "relationship");
    const supertypes = new Map(declared.map((one): [string, string[]] => [one.name, one.supertypes]));
    return { known: { ...Object.fromEntries(declared.map((one) => [one.name, 0])), ...counts }, supertypes };
}

/** The flow along a type: its own, or that of what it is a subtype of. */
function flowIn(flows: Flows, supertypes: Map<string, string[]>, type: string): Flow {
    const seen = new Set([type]);
    for (const name of seen) {
        const flow = flows.get(name);
        if (flow) return flow;
        for (const above of supertypes.get(name) ?? []) seen.add(above);
    }
    return "out";
}

/** A lineage that is loaded, or too large. */
type Loaded = { graph: Graph; before: Graph | null } | { tooMany: TooMany };

function OfTypes({ types }: { types: Types }) {
    const { id, up, down, types: chosen, compare } = address.value;
    const flows = useMemo(
        () => (chosen === "none" ? new Map() : chosen ? parseFlows(chosen) : guess(Object.keys(types.known).filter((name) => (types.known[name] ?? 0) > 0))) as Flows,
        [chosen, types],
    );
    const time = timeOf(address.value);
    const compared = compare ? parseTime(compare) : null;
    const key = `lineage ${id} ${up} ${down} ${formatFlows(flows)} ${formatTime(time)} | ${compared ? formatTime(compared) : ""}`;
    const answer = useAnswer<Loaded>(key, async (signal, report) => {
        const flowOf = (type: string) => flowIn(flows, types.supertypes, type);
        const at = (when: Time) =>
            load({ id, up, down, flows, flowOf, time: when }, signal, (count) => report(`${count} entities`));
        try {
            const graph = await at(time);
            const before = compared ? await at(compared) : null;
            if (graph.absent && (before === null || before.absent)) throw graph.absent;
            return { graph, before };
        } catch (error) {
            if (error instanceof TooMany) return { tooMany: error };
            throw error;
        }
    });
    return (
        <>
            <Toolbar flows={flows} known={types.known} />
            <Show answer={answer} what="the lineage" absent={(failure) => <Failed failure={failure} what="the lineage" />}>
                {(loaded) =>
                    "tooMany" in loaded ? (
                        <Large tooMany={loaded.tooMany} />
                    ) : (
                        <Shown key={key} loaded={loaded} time={time} compared={compared} />
                    )
                }
            </Show>
        </>
    );
}

function Shown(properties: { loaded: { graph: Graph; before: Graph | null }; time: Time; compared: Time | null }) {
    const { loaded, time, compared } = properties;
    const { id, sel, mark, path, differing } = address.value;
    const mover = useRef<Mover | null>(null);
    const whole = useMemo(() => merge(loaded.before, loaded.graph), [loaded]);
    const onPath = useMemo(() => (path && sel && mark ? between(whole, mark, sel) : null), [whole, path, sel, mark]);
    // While the path is shown, another selection keeps it.
    const kept = useRef<Merged | null>(null);
    if (!path) kept.current = null;
    else if (onPath) kept.current ??= onPath;
    const merged = kept.current ?? whole;
    const marks = useMemo(() => ({ start: id, selected: sel, marked: mark }), [id, sel, mark]);
    const selected = merged.nodes.get(sel);
    const select = (next: string) => {
        go({ sel: next }, false);
        const node = merged.nodes.get(next);
        if (node) notice.value = inWords(node);
    };
    const open = (next: string) => go(toEntity(next));
    useEffect(() => {
        ofView.value = actionsOf(mover);
        const ids = new Set(whole.nodes.keys());
        const isIn = (one: string | undefined) => one !== undefined && ids.has(one);
        scope.value = {
            filter: {},
            touches: (change) => isIn(change.id) || isIn(change.from) || isIn(change.to),
            touched: async ({ id: removed = "" }, position, signal) => {
                const query = { atPosition: position - 1, limit: 100 };
                const path = `v1/entities/${step(removed)}/relationships`;
                const before = await ask<Page<Relationship>>(path, { query, signal });
                return before.items.some(({ from, to }) => isIn(from) || isIn(to));
            },
            words: "this lineage",
        };
        return () => {
            ofView.value = [];
        };
    }, [whole]);
    return (
        <>
            <Summary merged={merged} loaded={loaded} time={time} compared={compared} isPath={kept.current !== null} />
            <div class="lineage">
                <div class="stage">
                    <Picture merged={merged} marks={marks} select={select} open={open} mover={mover} />
                    <Buttons mover={mover} />
                </div>
                <div class="beside">
                    {selected && <Selected key={selected.id} node={selected} time={time} compared={compared} />}
                    {compared && <Differing />}
                    <List
                        merged={compared && differing ? differences(merged) : merged}
                        marks={marks}
                        select={select}
                        open={open}
                    />
                </div>
            </div>
        </>
    );
}

/** Chooses whether the list has everything, or only what differs. */
function Differing() {
    return (
        <label class="differing">
            <input
                type="checkbox"
                checked={address.value.differing}
                onChange={(event) => go({ differing: event.currentTarget.checked })}
            />
            list only what differs
        </label>
    );
}

/** The first press marks an entity, the second one shows only the path to another, the third one shows all. */
function pressPath(): void {
    const { sel, mark, path } = address.value;
    if (path) go({ path: false, mark: "" });
    else if (!sel) notice.value = "select an entity first";
    else if (!mark || mark === sel) {
        go({ mark: sel }, false);
        notice.value = `${sel} is marked: select another one, and press p again`;
    } else {
        go({ path: true });
        notice.value = `only the path between ${mark} and ${sel}`;
    }
}

function actionsOf(mover: { current: Mover | null }): Action[] {
    return [
        { keys: "p", words: "Only the path: mark the selected, then to another", run: pressPath },
        {
            keys: "o",
            words: "Start the lineage at the selected",
            run: () => {
                const { sel } = address.value;
                if (sel) go(toLineage(sel));
            },
        },
        {
            keys: "d",
            words: "List only what differs, or everything",
            run: () => {
                const { compare, differing } = address.value;
                if (compare) go({ differing: !differing });
                else notice.value = "compare with another time first: c";
            },
        },
        { keys: "f", words: "Fit the picture", run: () => mover.current?.fit() },
        { keys: "+", words: "Nearer", run: () => mover.current?.zoom(1.3) },
        { keys: "-", words: "Farther", run: () => mover.current?.zoom(1 / 1.3) },
        {
            keys: "l",
            words: "To the list",
            run: () => document.querySelector<HTMLElement>(".list button[tabindex='0']")?.focus(),
        },
    ];
}

function Buttons({ mover }: { mover: { current: Mover | null } }) {
    const { path, mark, sel } = address.value;
    const isReady = path || sel !== "";
    return (
        <div class="buttons" role="group" aria-label="Picture">
            <button
                type="button"
                title={isReady ? "Only the path (p)" : "Only the path (p): select an entity first"}
                disabled={!isReady}
                onClick={pressPath}
            >
                {path ? "Show all" : mark && mark !== sel ? "Path to here" : "Path from here"}
            </button>
            <button type="button" title="Fit (f)" onClick={() => mover.current?.fit()}>
                Fit
            </button>
            <button type="button" aria-label="Farther" title="Farther (-)" onClick={() => mover.current?.zoom(1 / 1.3)}>
                −
            </button>
            <button type="button" aria-label="Nearer" title="Nearer (+)" onClick={() => mover.current?.zoom(1.3)}>
                +
            </button>
        </div>
    );
}

function Summary(properties: {
    merged: Merged;
    loaded: { graph: Graph; before: Graph | null };
    time: Time;
    compared: Time | null;
    isPath: boolean;
}) {
    const { merged, loaded, time, compared, isPath } = properties;
    const all = counts(merged);
    const { path } = address.value;
    return (
        <p class="summary" data-part="summary" role="status">
            {isPath && "Only the path: "}
            {path && !isPath && "There is no path between the two; all is shown: "}
            {counted(merged.nodes.size, "entity", "entities")}, {counted(merged.edges.length, "relationship")}
            {compared && (
                <>
                    {". "}
                    From {timeInWords(compared)} to {timeInWords(time)}:{" "}
                    {CHANGES.map((change) => (
                        <Changed key={change} change={change} nodes={all[change].nodes} edges={all[change].edges} />
                    ))}
                    {CHANGES.every((change) => all[change].nodes + all[change].edges === 0) && "nothing differs"}
                </>
            )}
            {loaded.graph.absent && <em>The start is not there at the time of the page. </em>}
            {loaded.before?.absent && <em>The start was not there then. </em>}
        </p>
    );
}

const CHANGES = ["added", "removed", "changed"] as const;

/** How much was added, removed or changed. */
function Changed({ change, nodes, edges }: { change: (typeof CHANGES)[number]; nodes: number; edges: number }) {
    if (nodes + edges === 0) return null;
    const parts = [
        nodes > 0 ? counted(nodes, "entity", "entities") : "",
        edges > 0 ? counted(edges, "relationship") : "",
    ];
    return (
        <span class={`count ${change}`} data-change={change}>
            {SIGNS[change]} {parts.filter((part) => part).join(" and ")} {change}{" "}
        </span>
    );
}
