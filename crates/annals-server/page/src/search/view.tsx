// The search: one box, the hits as a table, and an overview of the graph while nothing is searched for.
import { useEffect } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { ask, type Failure } from "../api/client.ts";
import type { Entity, Page } from "../api/forms.ts";
import { countTypes } from "../api/types.ts";
import { ofView } from "../frame/actions.ts";
import { Id, Link } from "../frame/link.tsx";
import { Failed, Show } from "../frame/states.tsx";
import { address, go, toEntity, toSearch } from "../state/address.ts";
import { EVERYTHING, scope } from "../state/commits.ts";
import { formatTime, membersOf, timeOf } from "../state/time.ts";
import { Box } from "./box.tsx";
import { Hits } from "./hits.tsx";
import { Overview } from "./overview.tsx";
import { ParserError } from "./parser_error.tsx";

/** The view. */
export function SearchView() {
    const { q, sort } = address.value;
    const time = timeOf(address.value);
    const when = formatTime(time);
    const stats = useAnswer(`stats ${when}`, (signal) => countTypes(time, signal));
    useEffect(() => {
        ofView.value = [];
        // A search for one type has the commits of this type in view.
        const type = /^\s*([\w:.-]+)\s*(where\b|order\b|limit\b|$)/.exec(q)?.[1];
        const isType = type && stats.state === "ready" && type in stats.value.entities.byType;
        scope.value = isType ? { ...EVERYTHING, filter: { type }, words: `any ${type}` } : EVERYTHING;
    }, [q, stats.state]);
    return (
        <>
            <h1 class="unseen">Search</h1>
            <Box value={q} time={time} search={(text) => go(toSearch(text))} />
            {q ? (
                <Found key={`${q} ${sort} ${when}`} q={q} />
            ) : (
                <Show answer={stats} what="the overview">
                    {(counts) => <Overview counts={counts} />}
                </Show>
            )}
        </>
    );
}

function Found({ q }: { q: string }) {
    return (
        <>
            <SameId q={q} />
            <Hits q={q} failed={(failure) => <NotFound q={q} failure={failure} />} />
        </>
    );
}

/** An entity whose id is just what was typed. */
function SameId({ q }: { q: string }) {
    const isId = new TextEncoder().encode(q).length <= 255;
    const body = {
        kind: "entity",
        where: { header: "id", operator: "=", value: q },
        limit: 1,
        ...membersOf(timeOf(address.value)),
    };
    const answer = useAnswer(isId ? `id ${JSON.stringify(body)}` : null, (signal) =>
        ask<Page<Entity>>("v1/find", { body, signal }),
    );
    const [entity] = answer.state === "ready" ? answer.value.items : [];
    if (!entity) return null;
    return (
        <p class="same-id">
            Its id: <bdi>{entity.type}</bdi>{" "}
            <Link to={toEntity(entity.id)}>
                <Id id={entity.id} />
            </Link>
        </p>
    );
}

function NotFound({ q, failure }: { q: string; failure: Failure }) {
    const texts = `* where @text ~= '${q.replace(/[\\']/g, "\\$&")}' nocase`;
    const isSearch = failure.kind === "invalid-expression";
    return (
        <>
            {isSearch ? <ParserError failure={failure} q={q} /> : <Failed failure={failure} what="the hits" />}
            {(isSearch || failure.kind === "not-found") && (
                <p>
                    <Link to={toSearch(texts)}>Look for this text in all properties</Link>
                    {" or "}
                    <Link to={toSearch(`* where @id ~= '${q.replace(/[\\']/g, "\\$&")}' nocase limit 100`)}>in all ids</Link>
                </p>
            )}
        </>
    );
}
