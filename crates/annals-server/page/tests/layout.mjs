// The layout alone: nothing overlaps, edges go from left to right, and a thousand nodes take a moment.
import assert from "node:assert/strict";
import { join } from "node:path";
import { build } from "esbuild";
import { groupBy } from "./browser.mjs";

/** Most processor time for a thousand nodes on a busy machine. Units: ms. */
const TIME_MAX = 5_000;

async function load(data) {
    const outfile = join(data.folder, "layout.mjs");
    const entryPoints = [join(import.meta.dirname, "../src/lineage/layout.ts")];
    await build({ entryPoints, outfile, bundle: true, format: "esm", logLevel: "error" });
    return import(outfile);
}

/** A graph like a lineage, the same each time. */
function graph(count, perNode) {
    let seed = 42;
    const random = () => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
    const edges = [];
    for (let node = 1; node < count; node += 1) {
        for (let edge = 0; edge < perNode; edge += 1) edges.push(Math.max(0, node - 1 - Math.floor(random() * 60)), node);
    }
    // Circles, a loop and a double edge.
    edges.push(count - 1, 0, 3, 3, 0, 1, 0, 1);
    return { count, edges: Int32Array.from(edges), start: Math.floor(count / 2), budget: 400 };
}

function check(question, { layer, y, passes }, row) {
    assert.equal(passes.length * 2, question.edges.length);
    const columns = groupBy(y.keys(), (node) => layer[node]);
    for (const nodes of columns.values()) {
        nodes.sort((one, other) => y[one] - y[other]);
        nodes.slice(1).forEach((node, index) => assert.ok(y[node] - y[nodes[index]] >= row - 1e-6, "two nodes overlap"));
    }
    let back = 0;
    for (let edge = 0; edge < question.edges.length; edge += 2) {
        if (layer[question.edges[edge]] > layer[question.edges[edge + 1]]) back += 1;
    }
    assert.ok([...y].every((one) => Number.isFinite(one) && one >= 0) && [...layer].every((one) => one >= 0));
    return back;
}

export const layout = {
    async "small graphs and circles are laid out"({ data }) {
        const { layOut, ROW } = await load(data);
        for (const edges of [[], [0, 0], [0, 1, 1, 0], [0, 1, 1, 2, 2, 0]]) {
            const question = { count: 3, edges: Int32Array.from(edges), start: 0, budget: 50 };
            check(question, layOut(question), ROW);
        }
        const chain = { count: 4, edges: Int32Array.from([0, 1, 1, 2, 2, 3]), start: 2, budget: 50 };
        const { layer, y } = layOut(chain);
        assert.deepEqual([...layer], [0, 1, 2, 3]);
        assert.ok(new Set(y).size === 1, "a chain is straight");
    },

    async "a thousand nodes take a moment, five thousand some"({ data }) {
        const { layOut, ROW } = await load(data);
        for (const [count, perNode] of [
            [1_000, 2],
            [5_000, 2],
        ]) {
            const question = graph(count, perNode);
            const start = process.cpuUsage();
            const found = layOut(question);
            const used = process.cpuUsage(start).user / 1_000;
            console.log(`layout of ${count} nodes: ${Math.round(used)} ms of the processor`);
            assert.ok(check(question, found, ROW) < 70, "few edges go back");
            assert.ok(used < TIME_MAX, `${used} ms`);
        }
    },
};
