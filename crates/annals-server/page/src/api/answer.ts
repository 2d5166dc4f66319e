// Keeps the answer of a question for a view, and ends the question when the view is left.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { asFailure, type Failure, isAbort, token } from "./client.ts";

/** The states of a question in a view. */
export type Answer<T> =
    | { state: "loading"; progress: string }
    | { state: "ready"; value: T }
    | { state: "failure"; failure: Failure };

/** Counts how often the user asked again. */
const rounds = signal(0);

/** Asks every question of the page again. */
export function askAgain(): void {
    rounds.value += 1;
}

/**
 * The answer to the question that `key` names; without a key nothing is asked. `load` gets a signal that ends it, and may
 * report how far it is.
 */
export function useAnswer<T>(
    key: string | null,
    load: (signal: AbortSignal, report: (progress: string) => void) => Promise<T>,
): Answer<T> {
    const whole = key === null ? null : `${rounds.value} ${token.value} ${key}`;
    const [kept, keep] = useState<{ of: string | null; answer: Answer<T> } | null>(null);
    useEffect(() => {
        if (whole === null) return undefined;
        const controller = new AbortController();
        const set = (answer: Answer<T>) => {
            if (!controller.signal.aborted) keep({ of: whole, answer });
        };
        load(controller.signal, (progress) => set({ state: "loading", progress })).then(
            (value) => set({ state: "ready", value }),
            (error) => {
                if (!isAbort(error)) set({ state: "failure", failure: asFailure(error) });
            },
        );
        return () => controller.abort();
    }, [whole]);
    return kept && kept.of === whole ? kept.answer : { state: "loading", progress: "" };
}
