// The worker: lays out beside the page, so that the page never waits.
import { layOut, type LayoutQuestion } from "./layout.ts";

addEventListener("message", (event: MessageEvent<{ number: number; question: LayoutQuestion }>) => {
    const { number, question } = event.data;
    postMessage({ number, layout: layOut(question) });
});
