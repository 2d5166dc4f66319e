// Reads answers in lines of JSON, one after the other, as they arrive.
import { type Asking, Failure, failureOfProblem, isAbort, send } from "./client.ts";

/** Longest answer that the page reads. Units: bytes; longer ones would fill the memory of a browser. */
export const BYTES_MAX = 64 << 20;

/** An answer that is longer than the page reads. */
export class TooLong extends Error {}

/**
 * The lines of an answer. Whoever stops early ends the work of the server, too.
 *
 * Errors: `Failure` as `send`, and for an answer that ends in an error; `TooLong`.
 */
export async function* lines<T>(path: string, asking: Asking = {}): AsyncGenerator<T> {
    const own = new AbortController();
    const end = () => own.abort();
    asking.signal?.addEventListener("abort", end, { once: true });
    if (asking.signal?.aborted) own.abort();
    try {
        const headers = { ...asking.headers, Accept: "application/x-ndjson" };
        const response = await send(path, { ...asking, headers, signal: own.signal });
        for await (const line of split(response)) {
            const parsed = JSON.parse(line) as { error?: Record<string, unknown> };
            if (parsed.error) throw failureOfProblem(parsed.error, Number(parsed.error["status"] ?? 500));
            yield parsed as T;
        }
    } catch (error) {
        if (isAbort(error) || error instanceof Failure || error instanceof TooLong) throw error;
        throw new Failure("failed", "The answer of the server was cut off.");
    } finally {
        own.abort();
        asking.signal?.removeEventListener("abort", end);
    }
}

async function* split(response: Response): AsyncGenerator<string> {
    if (!response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let parts: string[] = [];
    let length = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        length += value.length;
        if (length > BYTES_MAX) throw new TooLong();
        const pieces = value.split("\n");
        // A line of megabytes comes in many pieces: they are joined once.
        parts.push(pieces[0] as string);
        for (const piece of pieces.slice(1)) {
            const line = parts.join("");
            parts = [piece];
            if (line) yield line;
        }
    }
    const last = parts.join("");
    if (last) yield last;
}
