// Asks the server: JSON, lines of JSON, and problems as failures of one of three states.
import { signal } from "@preact/signals";

/** Why there is no answer: nothing is there, the client may not see it, or it failed. */
export type FailureState = "absent" | "refused" | "failed";

/** A question without an answer. */
export class Failure extends Error {
    constructor(
        readonly state: FailureState,
        /** What the server says, or what happened to the connection. */
        readonly text: string,
        /** The kind of a problem of the server, such as `not-found`; empty without one. */
        readonly kind = "",
        /** The members of the problem. */
        readonly problem: Record<string, unknown> = {},
    ) {
        super(text);
    }

    /** True if credentials are missing or wrong, so that a token may help. */
    get asksForToken(): boolean {
        return this.kind === "unauthenticated";
    }
}

/** The token of the user. It lives in memory only: a page that is opened again asks again. */
export const token = signal("");

/** The parameters of a question. Several values of one name are sent one after the other. */
export type Parameters = Record<string, string | number | boolean | string[] | undefined>;

/** An address below the folder of the page, so that a proxy may serve it below a path of its own. */
export function addressOf(path: string, parameters: Parameters = {}): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        for (const one of Array.isArray(value) ? value : [value]) {
            if (one !== undefined && one !== "" && one !== false) query.append(name, String(one));
        }
    }
    const text = query.toString();
    return text ? `${path}?${text}` : path;
}

/** An id or a name as one step of a path. */
export function step(id: string): string {
    // Annals has no ids `.` and `..`, which browsers take for folders even if they are percent-encoded.
    return encodeURIComponent(id);
}

/** What a question may carry. */
export interface Asking {
    query?: Parameters | undefined;
    /** A body in JSON: the question is a POST. */
    body?: unknown;
    headers?: Record<string, string>;
    /** Ends the question, and the work of the server for it. */
    signal?: AbortSignal | undefined;
}

/** Sends a question; the answer is a success, or this throws a `Failure`. */
export async function send(path: string, asking: Asking = {}): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json", ...asking.headers };
    if (token.value) headers["Authorization"] = `Bearer ${token.value}`;
    const init: RequestInit = { headers, credentials: "same-origin" };
    if (asking.signal) init.signal = asking.signal;
    if (asking.body !== undefined) {
        init.method = "POST";
        init.body = JSON.stringify(asking.body);
        headers["Content-Type"] = "application/json";
    }
    let response: Response;
    try {
        response = await fetch(addressOf(path, asking.query), init);
    } catch (error) {
        if (isAbort(error)) throw error;
        throw new Failure("failed", "The server does not answer. It may be stopped, or the network may be gone.");
    }
    if (!response.ok) throw await failureOf(response);
    return response;
}

/** Asks for one JSON document. */
export async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
    const response = await send(path, asking);
    try {
        return (await response.json()) as T;
    } catch (error) {
        if (isAbort(error)) throw error;
        throw new Failure("failed", "The answer of the server was cut off.");
    }
}

/** True for a question that the page itself ended. */
export function isAbort(error: unknown): boolean {
    return error instanceof DOMException && error.name === "AbortError";
}

/** Turns anything that was thrown into a failure. */
export function asFailure(error: unknown): Failure {
    if (error instanceof Failure) return error;
    return new Failure("failed", error instanceof Error ? error.message : String(error));
}

/** Turns a problem document into a failure. */
export function failureOfProblem(problem: Record<string, unknown>, status: number): Failure {
    const kind = typeof problem["kind"] === "string" ? problem["kind"] : "";
    const text = typeof problem["detail"] === "string" ? problem["detail"] : `The server answered with status ${status}.`;
    const state = status === 401 || status === 403 ? "refused" : status === 404 || status === 410 ? "absent" : "failed";
    return new Failure(state, text, kind, problem);
}

async function failureOf(response: Response): Promise<Failure> {
    let problem: Record<string, unknown> = {};
    try {
        const parsed: unknown = await response.json();
        if (parsed && typeof parsed === "object") problem = parsed as Record<string, unknown>;
    } catch {
        // A proxy may answer with a page of its own.
    }
    if (response.status === 401 && !problem["kind"]) problem["kind"] = "unauthenticated";
    return failureOfProblem(problem, response.status);
}
