// The versions of an entity, newest first; each leads to the time at which it was the last one.
import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { ask, asFailure, isAbort, step } from "../api/client.ts";
import type { Page, Version } from "../api/forms.ts";
import { notice } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { Show } from "../frame/states.tsx";
import { shortInstant } from "../words/instants.ts";

/** Versions of one page. */
const VERSIONS = 25;

/** The table of versions; `shown` is the one that the page shows, or 0. */
export function History({ id, shown }: { id: string; shown: number }) {
    const path = `v1/entities/${step(id)}/history`;
    const answer = useAnswer(`history ${id}`, (signal) => ask<Page<Version>>(path, { query: { limit: VERSIONS }, signal }));
    return (
        <section>
            <h2>Versions</h2>
            <Show answer={answer} what="the versions">
                {(first) => <Versions key={id} first={first} path={path} shown={shown} />}
            </Show>
        </section>
    );
}

function Versions({ first, path, shown }: { first: Page<Version>; path: string; shown: number }) {
    const [pages, set] = useState([first]);
    const ending = useRef(new AbortController());
    useEffect(() => () => ending.current.abort(), []);
    const next = pages.at(-1)?.next ?? null;
    const load = async () => {
        try {
            const query = { limit: VERSIONS, after: next ?? "" };
            set([...pages, await ask<Page<Version>>(path, { query, signal: ending.current.signal })]);
        } catch (error) {
            if (!isAbort(error)) notice.value = asFailure(error).text;
        }
    };
    return (
        <>
            <div class="wide" tabIndex={0} role="region" aria-label="Versions">
                <table class="versions">
                    <thead>
                        <tr>
                            <th scope="col">version</th>
                            <th scope="col">change</th>
                            <th scope="col">by</th>
                            <th scope="col">committed</th>
                            <th scope="col">true from</th>
                            <th scope="col">message</th>
                        </tr>
                    </thead>
                    <tbody>
                        {pages
                            .flatMap((page) => page.items)
                            .map((version) => (
                                <Row key={version.version} version={version} isShown={version.version === shown} />
                            ))}
                    </tbody>
                </table>
            </div>
            {next !== null && (
                <p>
                    <button type="button" onClick={() => void load()}>
                        More
                    </button>
                </p>
            )}
        </>
    );
}

function Row({ version, isShown }: { version: Version; isShown: boolean }) {
    const { version: number, action, author, instant, validFrom, message, position, inForce } = version;
    return (
        <tr data-version={number} aria-current={isShown ? "true" : undefined}>
            <th scope="row">
                <Link to={{ atPosition: String(position), at: "" }} title={`As known at position ${position}`}>
                    {number}
                </Link>
                {inForce && (
                    <span title="in force now" class="in-force">
                        {" "}
                        in force
                    </span>
                )}
            </th>
            <td>{action}</td>
            <td>
                <bdi>{author || "nobody"}</bdi>
            </td>
            <td class="instant">{shortInstant(instant)}</td>
            <td class="instant">{validFrom === instant ? "then" : shortInstant(validFrom)}</td>
            <td class="message">
                <bdi>{message}</bdi>
            </td>
        </tr>
    );
}
