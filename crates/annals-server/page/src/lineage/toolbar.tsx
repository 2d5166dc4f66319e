// What a lineage follows: depths up and down, relationship types, and the time that it is compared with.
import { useEffect, useState } from "preact/hooks";
import { address, DEPTH_MAX, go } from "../state/address.ts";
import { formatTime, parseTime, timeOf } from "../state/time.ts";
import { grouped } from "../words/counts.ts";
import { type Flow, type Flows, formatFlows } from "./flow.ts";

/** The tools above the picture. */
export function Toolbar({ flows, known }: { flows: Flows; known: Record<string, number> }) {
    const { up, down } = address.value;
    return (
        <div class="toolbar">
            <Depth words="Up" value={up} set={(depth) => go({ up: depth })} />
            <Depth words="Down" value={down} set={(depth) => go({ down: depth })} />
            <Types flows={flows} known={known} />
            <Compare />
        </div>
    );
}

function Depth({ words, value, set }: { words: string; value: number; set: (depth: number) => void }) {
    const isUp = words === "Up";
    return (
        <span class="depth" role="group" aria-label={`Steps ${words.toLowerCase()}`}>
            <span aria-hidden="true">{isUp ? "◂" : ""}</span> {words}
            <button type="button" aria-label={`Fewer steps ${words.toLowerCase()}`} disabled={value <= 0} onClick={() => set(value - 1)}>
                −
            </button>
            <b data-part={words.toLowerCase()}>{value}</b>
            <button
                type="button"
                aria-label={`More steps ${words.toLowerCase()}`}
                disabled={value >= DEPTH_MAX}
                onClick={() => set(value + 1)}
            >
                +
            </button>
            <span aria-hidden="true">{isUp ? "" : "▸"}</span>
        </span>
    );
}

const ARROWS: Record<Flow, string> = { out: "→", in: "←" };

function Types({ flows, known }: { flows: Flows; known: Record<string, number> }) {
    const names = [...new Set([...Object.keys(known).filter((name) => (known[name] ?? 0) > 0), ...flows.keys()])];
    names.sort((one, other) => Number(flows.has(other)) - Number(flows.has(one)) || (known[other] ?? 0) - (known[one] ?? 0));
    const words = [...flows].map(([name, flow]) => `${name} ${ARROWS[flow]}`).join(", ");
    const set = (name: string, flow: string) => {
        const next = new Map(flows);
        if (flow === "off") next.delete(name);
        else next.set(name, flow as Flow);
        go({ types: next.size > 0 ? formatFlows(next) : "none" });
    };
    return (
        <details class="types">
            <summary>
                Follows <bdi>{words || "nothing"}</bdi>
            </summary>
            <table>
                <tbody>
                    {names.map((name) => (
                        <tr key={name}>
                            <th scope="row">
                                <bdi>{name}</bdi> <small>{grouped(known[name] ?? 0)}</small>
                            </th>
                            <td>
                                <select
                                    aria-label={`Flow along ${name}`}
                                    value={flows.get(name) ?? "off"}
                                    onChange={(event) => set(name, event.currentTarget.value)}
                                >
                                    <option value="off">not followed</option>
                                    <option value="out">→ flows with it</option>
                                    <option value="in">← flows against it</option>
                                </select>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p class="hint">
                <i>reads</i> points from a job to its table, and the data flows against it: ←. <i>writes</i> points to what is
                written: →.
            </p>
        </details>
    );
}

function Compare() {
    const { compare } = address.value;
    const [typed, type] = useState(compare);
    useEffect(() => type(compare), [compare]);
    const set = () => {
        const text = typed.trim();
        go({ compare: text ? formatTime(parseTime(text)) : "" });
    };
    const swap = () => {
        const now = formatTime(timeOf(address.value));
        go({ ...parseTime(compare), compare: now });
    };
    return (
        <form
            class="compare"
            onSubmit={(event) => {
                event.preventDefault();
                set();
            }}
        >
            <label for="compare">Compare with</label>
            <input
                id="compare"
                value={typed}
                placeholder="41, or validAt:2025-03-15"
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => type(event.currentTarget.value)}
                onChange={set}
            />
            {compare && (
                <>
                    <button type="button" onClick={swap}>
                        Swap
                    </button>
                    <button type="button" onClick={() => go({ compare: "" })}>
                        End
                    </button>
                </>
            )}
        </form>
    );
}
