// The one control of time: now, as known at, true at, and steps from commit to commit.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { address, go } from "../state/address.ts";
import { commitOf } from "../state/commits.ts";
import { isNow, knownAt, NOW, timeOf } from "../state/time.ts";
import { shortInstant } from "../words/instants.ts";
import { actions } from "./actions.ts";

/** Runs the action of a key. */
export function press(keys: string): void {
    actions()
        .find((action) => action.keys === keys)
        ?.run();
}

/** A field that takes effect when the user leaves it or presses Enter. */
function Field(properties: {
    id: string;
    label: string;
    value: string;
    placeholder: string;
    set: (typed: string) => void;
}) {
    const { id, label, value, placeholder, set } = properties;
    const [typed, type] = useState(value);
    useEffect(() => type(value), [value]);
    return (
        <span class="field">
            <label for={id}>{label}</label>
            <input
                id={id}
                value={typed}
                placeholder={placeholder}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => type(event.currentTarget.value)}
                onChange={() => set(typed.trim())}
                onKeyDown={(event) => event.key === "Enter" && set(typed.trim())}
            />
        </span>
    );
}

/** The bar below the head of the page. */
export function TimeBar() {
    const time = timeOf(address.value);
    const known = time.atPosition || time.at;
    return (
        <section class={isNow(time) ? "time" : "time past"} aria-label="Time">
            <span class="steps">
                <button type="button" title="Commit before that changed something in view ([)" aria-label="Commit before" onClick={() => press("[")}>
                    ‹
                </button>
                <button type="button" title="Next commit that changed something in view (])" aria-label="Next commit" onClick={() => press("]")}>
                    ›
                </button>
                <button type="button" class="now" title="Now (n)" aria-pressed={isNow(time)} onClick={() => go({ ...NOW })}>
                    Now
                </button>
            </span>
            <Field
                id="known-at"
                label="as known at"
                value={known}
                placeholder="41, or 2026-03-01"
                set={(typed) => go(knownAt(typed))}
            />
            <Field
                id="true-at"
                label="true at"
                value={time.validAt}
                placeholder="2025-03-15"
                set={(typed) => go({ validAt: typed })}
            />
            {known ? <KnownAt /> : <span class="commit">{time.validAt ? "as known now" : ""}</span>}
        </section>
    );
}

/** The commit that "as known at" snaps to. */
function KnownAt() {
    const time = timeOf(address.value);
    const answer = useAnswer(`commit of ${time.atPosition} ${time.at}`, (signal) => commitOf(time, signal));
    if (answer.state !== "ready") return <span class="commit">{answer.state === "loading" ? "…" : ""}</span>;
    const commit = answer.value;
    if (!commit) return <span class="commit">before the first commit that you may see</span>;
    return (
        <span class="commit" title={`${commit.instant} ${commit.message}`}>
            commit <b>{commit.position}</b>, {shortInstant(commit.instant)}
            {commit.author && (
                <>
                    {" "}
                    by <bdi>{commit.author}</bdi>
                </>
            )}
            {commit.message && (
                <>
                    : <bdi>{commit.message}</bdi>
                </>
            )}
        </span>
    );
}
