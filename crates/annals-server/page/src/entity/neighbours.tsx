// The neighbours of an entity by relationship type and direction, with counts, page by page.
import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { ask, asFailure, isAbort, step } from "../api/client.ts";
import type { Entity, Json, Page, Relationship } from "../api/forms.ts";
import { relationshipTypes } from "../api/types.ts";
import { notice } from "../frame/actions.ts";
import { Id, Link } from "../frame/link.tsx";
import { Show } from "../frame/states.tsx";
import { address, toEntity } from "../state/address.ts";
import { formatTime, parametersOf, type Time, timeOf } from "../state/time.ts";
import { grouped } from "../words/counts.ts";
import { shortened, textOf } from "../words/values.ts";

/** Neighbours of one page, and most neighbours that are shown without being asked for. */
const NEIGHBOURS = 25;
const OPEN_MAX = 60;

type Direction = "out" | "in";

/** Neighbours of one type in one direction. */
interface Group {
    type: string;
    direction: Direction;
    count: number;
}

/** A relationship and the entity at its other end. */
interface Neighbour {
    entity?: Entity;
    relationship: Relationship;
}

/** The groups of neighbours. */
export function Neighbours({ id }: { id: string }) {
    const time = timeOf(address.value);
    const answer = useAnswer(`groups ${id} ${formatTime(time)}`, (signal) => count(id, time, signal));
    return (
        <section class="neighbours">
            <h2>Neighbours</h2>
            <Show answer={answer} what="the neighbours">
                {(groups) => <Groups id={id} groups={groups} />}
            </Show>
        </section>
    );
}

/** Counts the neighbours of each type and direction. A type counts its own relationships and those of its subtypes. */
async function count(id: string, time: Time, signal: AbortSignal): Promise<Group[]> {
    const query = parametersOf(time);
    const types = Object.entries(await relationshipTypes(id, time, signal)).filter(([, all]) => all > 0);
    const asked = types.flatMap(([type]) =>
        (["out", "in"] as const).map(async (direction): Promise<Group> => {
            const of = { ...query, type, direction };
            const { degree } = await ask<{ degree: number }>(`v1/entities/${step(id)}/degree`, { query: of, signal });
            return { type, direction, count: degree };
        }),
    );
    const groups = await Promise.all(asked);
    return groups.filter((group) => group.count > 0);
}

function Groups({ id, groups }: { id: string; groups: Group[] }) {
    if (groups.length === 0) return <p class="none">none at this time</p>;
    let shown = 0;
    return (
        <>
            {groups.map((group) => {
                const isOpen = shown + Math.min(group.count, NEIGHBOURS) <= OPEN_MAX;
                if (isOpen) shown += Math.min(group.count, NEIGHBOURS);
                return <OneGroup key={`${group.direction} ${group.type}`} id={id} group={group} isOpen={isOpen} />;
            })}
        </>
    );
}

function OneGroup({ id, group, isOpen: isOpenAtFirst }: { id: string; group: Group; isOpen: boolean }) {
    const [isOpen, open] = useState(isOpenAtFirst);
    const { type, direction, count: all } = group;
    return (
        <details
            open={isOpenAtFirst}
            data-type={type}
            data-direction={direction}
            onToggle={(event) => open(event.currentTarget.open)}
        >
            <summary>
                <span aria-hidden="true">{direction === "out" ? "→ " : "← "}</span>
                <span class="unseen">{direction === "out" ? "to: " : "from: "}</span>
                <bdi>{type}</bdi> <b data-part="count">{grouped(all)}</b>
            </summary>
            {isOpen && <Listed id={id} group={group} />}
        </details>
    );
}

function Listed({ id, group }: { id: string; group: Group }) {
    const { type, direction } = group;
    const time = timeOf(address.value);
    const query = { ...parametersOf(time), type, direction, limit: NEIGHBOURS };
    const path = `v1/entities/${step(id)}/neighbors`;
    const answer = useAnswer(`neighbours ${id} ${type} ${direction} ${formatTime(time)}`, (signal) =>
        ask<Page<Neighbour>>(path, { query, signal }),
    );
    const [more, add] = useState<Page<Neighbour>[]>([]);
    const ending = useRef(new AbortController());
    useEffect(() => () => ending.current.abort(), []);
    return (
        <Show answer={answer} what="the neighbours">
            {(first) => {
                const pages = [first, ...more];
                const next = pages.at(-1)?.next ?? null;
                const load = async () => {
                    try {
                        const asked = { query: { ...query, after: next ?? "" }, signal: ending.current.signal };
                        add([...more, await ask<Page<Neighbour>>(path, asked)]);
                    } catch (error) {
                        if (!isAbort(error)) notice.value = asFailure(error).text;
                    }
                };
                return (
                    <>
                        <ul>
                            {pages
                                .flatMap((page) => page.items)
                                .map((neighbour) => (
                                    <One key={neighbour.relationship.id} neighbour={neighbour} direction={direction} />
                                ))}
                        </ul>
                        {next !== null && (
                            <button type="button" onClick={() => void load()}>
                                More
                            </button>
                        )}
                    </>
                );
            }}
        </Show>
    );
}

function One({ neighbour, direction }: { neighbour: Neighbour; direction: Direction }) {
    const { entity, relationship } = neighbour;
    const id = direction === "out" ? relationship.to : relationship.from;
    const properties = Object.entries(relationship.properties as Record<string, Json>);
    return (
        <li data-id={id}>
            <Link to={toEntity(id)}>
                <Id id={id} />
            </Link>
            {entity && (
                <small>
                    <bdi>{entity.type}</bdi>
                </small>
            )}
            {properties.length > 0 && (
                <small>
                    <bdi>{shortened(properties.map(([name, value]) => `${name}: ${textOf(value)}`).join(", "), 120)}</bdi>
                </small>
            )}
        </li>
    );
}
