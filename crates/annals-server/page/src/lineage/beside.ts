// Asks the worker for layouts; only the latest question counts.
import type { Layout, LayoutQuestion } from "./layout.ts";

/** The name of the file of the worker, which the build puts here. */
declare const LAYOUT_WORKER: string;

let worker: Worker | null = null;
let latest = 0;
let waiting: ((layout: Layout) => void) | null = null;

/** Lays out beside the page. A later question ends this one: its promise then never resolves. */
export function layOutBeside(question: LayoutQuestion): Promise<Layout> {
    if (waiting && worker) {
        // Work that nobody waits for would delay this one.
        worker.terminate();
        worker = null;
    }
    worker ??= start();
    latest += 1;
    worker.postMessage({ number: latest, question });
    return new Promise((resolve) => {
        waiting = resolve;
    });
}

function start(): Worker {
    const url = new URL(`explore/${LAYOUT_WORKER}`, document.baseURI).href;
    const started = new Worker(trusted(url));
    started.addEventListener("message", (event: MessageEvent<{ number: number; layout: Layout }>) => {
        if (event.data.number !== latest) return;
        const resolve = waiting;
        waiting = null;
        resolve?.(event.data.layout);
    });
    return started;
}

/** The page requires trusted types: this is the only script that it starts by an address. */
function trusted(url: string): string {
    const types = (window as { trustedTypes?: { createPolicy: (name: string, rules: object) => { createScriptURL: (url: string) => string } } })
        .trustedTypes;
    return types ? types.createPolicy(`annals-${latest}`, { createScriptURL: (text: string) => text }).createScriptURL(url) : url;
}
