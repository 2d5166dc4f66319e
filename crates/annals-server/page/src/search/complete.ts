// Asks the server for the completions at the cursor of a search.
import { useEffect, useState } from "preact/hooks";
import { ask, isAbort } from "../api/client.ts";
import type { Completions } from "../api/forms.ts";
import { parametersOf, type Time } from "../state/time.ts";

/** The completions at the cursor. */
export interface Completion {
    /** The part of the text that an offer replaces. Units: UTF-16 code units. */
    from: number;
    to: number;
    offers: Completions["items"];
}

/** Most offers at once: more are no help. */
const OFFERS_MAX = 12;

/** The completions of a text; `null` while the server is asked, or if the text is `null`. Without an answer there are none. */
export function useCompletion(text: string | null, cursor: number, time: Time): Completion | null {
    const wanted = text === null ? "" : JSON.stringify([text, cursor, time]);
    const [found, find] = useState<{ wanted: string; completion: Completion } | null>(null);
    useEffect(() => {
        if (text === null) return;
        const ended = new AbortController();
        const answer = (completion: Completion) => find({ wanted, completion });
        asked(text, cursor, time, ended.signal).then(answer, (error: unknown) => {
            if (!isAbort(error)) answer({ from: cursor, to: cursor, offers: [] });
        });
        return () => ended.abort();
    }, [wanted]);
    return found?.wanted === wanted ? found.completion : null;
}

async function asked(text: string, cursor: number, time: Time, signal: AbortSignal): Promise<Completion> {
    // The server counts characters, and this page units of UTF-16.
    const characters = [...text.slice(0, cursor)];
    const query = { q: text, cursor: characters.length, limit: OFFERS_MAX, ...parametersOf(time) };
    const { from, items } = await ask<Completions>("v1/complete", { query, signal });
    const begin = characters.slice(0, from).join("").length;
    const begun = text.slice(begin, cursor);
    return { from: begin, to: cursor, offers: items.filter((item) => item.text !== begun) };
}
