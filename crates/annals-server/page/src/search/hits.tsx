// The hits of a search as a table that sorts, page by page.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { ask, asFailure, type Failure, isAbort } from "../api/client.ts";
import type { Entity, Json, Page } from "../api/forms.ts";
import { notice } from "../frame/actions.ts";
import { Id, Link } from "../frame/link.tsx";
import { Empty, Loading } from "../frame/states.tsx";
import { address, go, toEntity, toSearch } from "../state/address.ts";
import { membersOf, timeOf } from "../state/time.ts";
import { counted } from "../words/counts.ts";
import { shortInstant } from "../words/instants.ts";
import { shortened, textOf } from "../words/values.ts";

/** Hits of one page, columns of properties, and characters of one cell. */
const HITS = 50;
const COLUMNS_MAX = 8;
const CELL_CHARACTERS = 120;

/** The order of an address as the API takes it: a name of a property may have any letters. */
function orderOf(sort: string): Record<string, unknown>[] {
    const descending = sort.startsWith("-");
    const name = descending ? sort.slice(1) : sort;
    if (!name) return [];
    return [name.startsWith("@") ? { header: name.slice(1), descending } : { property: name, descending }];
}

/** The table, or the state of its question. */
export function Hits({ q, failed }: { q: string; failed: (failure: Failure) => ComponentChildren }) {
    const { sort } = address.value;
    const asked = { kind: "entity", q, orderBy: orderOf(sort), limit: HITS, ...membersOf(timeOf(address.value)) };
    if (asked.orderBy.length === 0) delete (asked as { orderBy?: unknown }).orderBy;
    const key = JSON.stringify(asked);
    const first = useAnswer(`hits ${key}`, (signal) => ask<Page<Entity>>("v1/find", { body: asked, signal }));
    const { limit: _, orderBy: __, ...counting } = asked;
    // A search that limits itself counts its hits only.
    const count = useAnswer(`count ${JSON.stringify(counting)}`, (signal) =>
        ask<{ count: number }>("v1/count", { body: counting, signal }),
    );
    const [more, add] = useState<{ pages: Page<Entity>[]; isLoading: boolean }>({ pages: [], isLoading: false });
    const ending = useRef(new AbortController());
    useEffect(() => () => ending.current.abort(), []);
    const pages = first.state === "ready" ? [first.value, ...more.pages] : [];
    const hits = pages.flatMap((page) => page.items);

    if (first.state === "loading") return <Loading what="the hits" />;
    if (first.state === "failure") return <>{failed(first.failure)}</>;
    if (hits.length === 0) {
        return (
            <Empty>
                <p>Nothing is found at this time.</p>
                <p>
                    <Link to={toSearch(`${q.replace(/\s+deleted\s+\w+/, "")} deleted with`)}>Look among deleted ones, too</Link>
                </p>
            </Empty>
        );
    }
    const next = pages.at(-1)?.next ?? null;
    const load = async () => {
        add({ ...more, isLoading: true });
        try {
            const page = await ask<Page<Entity>>("v1/find", { body: { ...asked, after: next }, signal: ending.current.signal });
            add({ pages: [...more.pages, page], isLoading: false });
        } catch (error) {
            if (isAbort(error)) return;
            add({ ...more, isLoading: false });
            notice.value = asFailure(error).text;
        }
    };
    const total = count.state === "ready" ? count.value.count : null;
    return (
        <>
            <p class="summary" data-part="summary" role="status">
                {total === null ? counted(hits.length, "hit") : counted(total, "hit")}
                {total !== null && total > hits.length && `, ${hits.length} shown`}
            </p>
            <Table hits={hits} sort={sort} />
            {next !== null && (
                <p>
                    <button type="button" disabled={more.isLoading} onClick={() => void load()}>
                        {more.isLoading ? "Loads …" : "More"}
                    </button>
                </p>
            )}
        </>
    );
}

/** The properties that most hits have, in the order in which they appear. */
function columnsOf(hits: Entity[]): string[] {
    const counts = new Map<string, number>();
    for (const hit of hits) {
        for (const name of Object.keys(hit.properties)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const order = [...counts].sort(([, one], [, other]) => other - one);
    return order.slice(0, COLUMNS_MAX).map(([name]) => name);
}

function Table({ hits, sort }: { hits: Entity[]; sort: string }) {
    const columns = columnsOf(hits);
    const isAnyClassified = hits.some((hit) => Object.keys(hit.classifications ?? {}).length > 0);
    return (
        // A table that is wider than the page scrolls by itself, also by keys.
        <div class="wide" tabIndex={0} role="region" aria-label="Hits">
            <table class="hits">
                <thead>
                    <tr>
                        <Head name="@id" words="id" sort={sort} />
                        <Head name="@type" words="type" sort={sort} />
                        {columns.map((name) => (
                            <Head
                                key={name}
                                name={name}
                                words={name}
                                sort={sort}
                                isNumber={hits.some((hit) => typeof hit.properties[name] === "number")}
                            />
                        ))}
                        {isAnyClassified && <th scope="col">classified</th>}
                        <Head name="@updatedAt" words="updated" sort={sort} />
                    </tr>
                </thead>
                <tbody>
                    {hits.map((hit) => (
                        <Row key={hit.id} hit={hit} columns={columns} isAnyClassified={isAnyClassified} />
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Row({ hit, columns, isAnyClassified }: { hit: Entity; columns: string[]; isAnyClassified: boolean }) {
    const values = hit.properties as Record<string, Json>;
    return (
        <tr data-id={hit.id}>
            <th scope="row">
                <Link to={toEntity(hit.id)}>
                    <Id id={hit.id} />
                </Link>
            </th>
            <td>
                <bdi>{hit.type}</bdi>
            </td>
            {columns.map((name) => {
                const value = Object.hasOwn(values, name) ? values[name] : undefined;
                const text = value === undefined ? "" : shortened(textOf(value), CELL_CHARACTERS);
                return (
                    <td key={name} class={typeof value === "number" ? "number" : text.length > 24 ? "long" : ""}>
                        {text && <bdi>{text}</bdi>}
                    </td>
                );
            })}
            {isAnyClassified && (
                <td>
                    <bdi>{Object.keys(hit.classifications ?? {}).join(", ")}</bdi>
                </td>
            )}
            <td class="instant">
                {shortInstant(hit.updated.instant)} <bdi>{hit.updated.author}</bdi>
            </td>
        </tr>
    );
}

function Head(properties: { name: string; words: string; sort: string; isNumber?: boolean }) {
    const { name, words, sort, isNumber = false } = properties;
    const isUp = sort === name;
    const isDown = sort === `-${name}`;
    const next = isUp ? `-${name}` : isDown ? "" : name;
    return (
        <th scope="col" class={isNumber ? "number" : ""} aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}>
            <button type="button" class="sort" onClick={() => go({ sort: next })}>
                <bdi>{words}</bdi>
                <span aria-hidden="true">{isUp ? " ↑" : isDown ? " ↓" : ""}</span>
            </button>
        </th>
    );
}
