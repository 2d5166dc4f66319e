// The selected entity of a lineage: its relationships, and how its values differ from the time that is compared with.
import { useAnswer } from "../api/answer.ts";
import { ask, step } from "../api/client.ts";
import type { Entity, Json } from "../api/forms.ts";
import { Id, Link } from "../frame/link.tsx";
import { Show } from "../frame/states.tsx";
import { toEntity, toLineage } from "../state/address.ts";
import { formatTime, parametersOf, type Time } from "../state/time.ts";
import { shortened, textOf } from "../words/values.ts";
import type { MergedNode } from "./difference.ts";
import { Edges } from "./list.tsx";

/** Units: characters of a value. */
const SHORT = 200;

/** One side of a difference: a property, or a property of a classification. */
type Values = Map<string, string>;

/** The panel. */
export function Selected({ node, time, compared }: { node: MergedNode; time: Time; compared: Time | null }) {
    return (
        <section class="selected" aria-label="Selected">
            <h2>
                <Id id={node.id} /> <small>{node.type}</small>
            </h2>
            <p class="links">
                <Link to={toEntity(node.id)}>Open</Link> <Link to={toLineage(node.id)}>Start here</Link>
            </p>
            {node.change === "changed" && compared && <Differences id={node.id} time={time} compared={compared} />}
            <Edges node={node} />
        </section>
    );
}

function Differences({ id, time, compared }: { id: string; time: Time; compared: Time }) {
    const key = `difference ${id} ${formatTime(compared)} ${formatTime(time)}`;
    const answer = useAnswer(key, async (signal) => {
        const read = (at: Time) => ask<Entity>(`v1/entities/${step(id)}`, { query: parametersOf(at), signal });
        const [before, after] = await Promise.all([read(compared), read(time)]);
        return differences(valuesOf(before), valuesOf(after));
    });
    return (
        <Show answer={answer} what="the difference">
            {(rows) => (
                <table class="difference">
                    <thead>
                        <tr>
                            <th scope="col">property</th>
                            <th scope="col">before</th>
                            <th scope="col">after</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map(([name, before, after]) => (
                            <tr key={name} data-name={name}>
                                <th scope="row">
                                    <bdi>{name}</bdi>
                                </th>
                                <td class="before">{before === undefined ? "none" : <bdi>{shortened(before, SHORT)}</bdi>}</td>
                                <td class="after">{after === undefined ? "none" : <bdi>{shortened(after, SHORT)}</bdi>}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
        </Show>
    );
}

function valuesOf(entity: Entity): Values {
    const values: Values = new Map([
        ["@type", entity.type],
        ["@status", entity.status],
    ]);
    for (const [name, value] of Object.entries(entity.properties as Record<string, Json>)) values.set(name, textOf(value));
    for (const [name, { properties }] of Object.entries(entity.classifications ?? {})) {
        values.set(`classified ${name}`, "yes");
        for (const [inner, value] of Object.entries(properties as Record<string, Json>)) {
            values.set(`${name}.${inner}`, textOf(value));
        }
    }
    return values;
}

function differences(before: Values, after: Values): [string, string | undefined, string | undefined][] {
    const names = [...new Set([...before.keys(), ...after.keys()])];
    return names
        .filter((name) => before.get(name) !== after.get(name))
        .map((name) => [name, before.get(name), after.get(name)]);
}
