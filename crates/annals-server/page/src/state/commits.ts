// Steps from commit to commit: to those that changed something in view.
import { signal } from "@preact/signals";
import { ask, type Parameters } from "../api/client.ts";
import type { Change, LoggedRecord, Page } from "../api/forms.ts";
import { isNow, type Time } from "./time.ts";

/** A commit without its changes. */
export interface Commit {
    position: number;
    instant: string;
    author: string;
    message: string;
}

/** What is in view: a part of the log, and which of its changes count. */
export interface Scope {
    filter: Parameters;
    touches: (change: Change) => boolean;
    /** Looks closer at a change that `touches` denies: what it removed may have been in view before. */
    touched?: (change: Change, position: number, ending?: AbortSignal) => Promise<boolean>;
    /** What the changes are of, in words. */
    words: string;
}

/** The whole repository is in view. */
export const EVERYTHING: Scope = { filter: {}, touches: () => true, words: "anything" };

/** What the view shows now. Each view sets it. */
export const scope = signal<Scope>(EVERYTHING);

/** Records of one question to the log, and most such questions for one step: an answer is bounded by the server. */
const RECORDS = 40;
const PAGES_MAX = 50;
/** Most removed entities of a record that are looked at more closely, one after the other. */
const LOOKED_AT_MAX = 20;

/** The last commit of a time; null before the first. */
export async function commitOf(time: Time, ending?: AbortSignal): Promise<Commit | null> {
    const query: Parameters = { limit: 1 };
    if (time.atPosition) query["after"] = String(Number(time.atPosition) + 1);
    if (time.at) query["until"] = behind(time.at);
    const page = await ask<Page<LoggedRecord>>("v1/log", { query, signal: ending });
    return page.items[0] ?? null;
}

/** The least instant behind one with a fraction, because the log excludes the instant until which it is asked. */
function behind(instant: string): string {
    return instant.replace(/(\.\d{1,8})Z$/, "$11Z");
}

/**
 * The commit before the one that shows what is in view as it is at `time`; null if there is none.
 */
export async function commitBefore(time: Time, ending?: AbortSignal): Promise<Commit | null> {
    const query: Parameters = { order: "newest-first" };
    if (time.atPosition) query["after"] = String(Number(time.atPosition) + 1);
    if (time.at) query["until"] = behind(time.at);
    // The first one made the state of now; the one before it is another state.
    return find(query, 2, ending);
}

/** The next commit after `time` that changed something in view; null if there is none. */
export async function commitAfter(time: Time, ending?: AbortSignal): Promise<Commit | null> {
    if (isNow({ ...time, validAt: "" })) return null;
    const position = time.atPosition || String((await commitOf(time, ending))?.position ?? 0);
    return find({ order: "oldest-first", after: position }, 1, ending);
}

/** True if a record changed something in view. */
async function isTouching(record: LoggedRecord, ending?: AbortSignal): Promise<boolean> {
    const { touches, touched } = scope.value;
    const changes = record.changes as Change[];
    if (changes.some(touches)) return true;
    const removed = touched ? changes.filter(({ action, kind }) => action === "delete" && kind === "entity") : [];
    for (const change of removed.slice(0, LOOKED_AT_MAX)) {
        if (await touched?.(change, record.position, ending)) return true;
    }
    // Rather one step too many than a change that nobody sees.
    return removed.length > LOOKED_AT_MAX;
}

async function find(query: Parameters, nth: number, ending?: AbortSignal): Promise<Commit | null> {
    let left = nth;
    let seen = 0;
    let next = query;
    const { filter } = scope.value;
    for (let page = 0; page < PAGES_MAX; page += 1) {
        const asked = { ...filter, ...next, limit: RECORDS };
        const answer = await ask<Page<LoggedRecord>>("v1/log", { query: asked, signal: ending });
        for (const record of answer.items) {
            // A record with many changes comes in parts.
            if (record.position === seen || !(await isTouching(record, ending))) continue;
            seen = record.position;
            left -= 1;
            if (left === 0) return record;
        }
        if (answer.next === null) return null;
        next = { ...query, after: answer.next };
    }
    return null;
}
