// Lays a lineage out in layers from left to right: longest paths, few crossings, short edges. It knows no page.

/** What is laid out: nodes are numbers. */
export interface LayoutQuestion {
    count: number;
    /** Shape: from, to, from, to, … */
    edges: Int32Array;
    start: number;
    /** For the search for few crossings. Units: ms. */
    budget: number;
}

/** Where each node stands. */
export interface Layout {
    /** Layers from the left. */
    layer: Int32Array;
    /** The middle of each node. Units: pixels. */
    y: Float64Array;
    /** The heights at which an edge passes the layers between its ends, from left to right. */
    passes: Float64Array[];
}

/** Heights of nodes and of passing edges. Units: pixels. */
export const ROW = 54;
const PASS = 16;
/** Above this many nodes the order is the first one found. */
const SORTED_MAX = 1_500;
/** Most passing edges times layers; above it edges go straight. */
const PASSES_MAX = 15_000;
/** Above this many they are close together. */
const PASSES_WIDE_MAX = 300;

/** Lays out. The same question gives the same layout, but for the budget of time. */
export function layOut(question: LayoutQuestion): Layout {
    const { count } = question;
    const forward = acyclic(question);
    const layer = layersOf(count, forward);
    const { rows, ups, downs, passesOf, height } = rowsOf(count, forward, layer);
    firstOrder(question, rows, ups, downs);
    if (count <= SORTED_MAX) sortRows(rows, ups, downs, question.budget);
    else sweep(rows, ups, downs, true);
    const y = heights(rows, ups, downs, height);
    const passes = passesOf.map((slots) => Float64Array.from(slots, (slot) => y[slot] ?? 0));
    return { layer, y: y.slice(0, count), passes };
}

/** The edges, those that close a circle turned round, and loops as they are. */
function acyclic({ count, edges, start }: LayoutQuestion): Int32Array {
    const out = adjacency(count, edges);
    const forward = edges.slice();
    // 0: not seen, 1: on the way, 2: done.
    const state = new Uint8Array(count);
    const incoming = new Uint32Array(count);
    for (let edge = 0; edge < edges.length; edge += 2) incoming[edges[edge + 1]!]! += 1;
    const roots = [...Array(count).keys()].sort((one, other) => incoming[one]! - incoming[other]! || one - other);
    for (const root of [start, ...roots]) {
        if (root >= count || state[root] !== 0) continue;
        const way: [number, number][] = [[root, 0]];
        state[root] = 1;
        while (way.length > 0) {
            const top = way[way.length - 1]!;
            const edge = out[top[0]]![top[1]];
            top[1] += 1;
            if (edge === undefined) {
                state[top[0]] = 2;
                way.pop();
                continue;
            }
            const target = edges[2 * edge + 1]!;
            if (state[target] === 1) {
                forward[2 * edge] = target;
                forward[2 * edge + 1] = edges[2 * edge]!;
            } else if (state[target] === 0) {
                state[target] = 1;
                way.push([target, 0]);
            }
        }
    }
    return forward;
}

/** For each node the edges that begin at it. */
function adjacency(count: number, edges: Int32Array): number[][] {
    const out: number[][] = Array.from({ length: count }, () => []);
    for (let edge = 0; 2 * edge < edges.length; edge += 1) out[edges[2 * edge]!]!.push(edge);
    return out;
}

/** The layer of each node: the longest way that leads to it. A node without sources stands next to its first target. */
function layersOf(count: number, forward: Int32Array): Int32Array {
    const out = adjacency(count, forward);
    const open = new Uint32Array(count);
    for (let edge = 0; edge < forward.length; edge += 2) {
        if (forward[edge] !== forward[edge + 1]) open[forward[edge + 1]!]! += 1;
    }
    const sources = open.slice();
    const layer = new Int32Array(count);
    const order = [...Array(count).keys()].filter((node) => open[node] === 0);
    for (let next = 0; next < order.length; next += 1) {
        const node = order[next]!;
        for (const edge of out[node]!) {
            const target = forward[2 * edge + 1]!;
            if (target === node) continue;
            layer[target] = Math.max(layer[target]!, layer[node]! + 1);
            open[target]! -= 1;
            if (open[target] === 0) order.push(target);
        }
    }
    for (const node of order) {
        const targets = out[node]!.map((edge) => forward[2 * edge + 1]!).filter((target) => target !== node);
        if (sources[node] !== 0 || targets.length === 0) continue;
        layer[node] = targets.reduce((least, target) => Math.min(least, layer[target]!), Infinity) - 1;
    }
    return layer;
}

interface Rows {
    /** The slots of each layer in order: nodes, and behind their numbers the places where edges pass. */
    rows: number[][];
    /** The slots in the layer before, and behind, that an edge leads to. */
    ups: number[][];
    downs: number[][];
    passesOf: number[][];
    height: number[];
}

function rowsOf(count: number, forward: Int32Array, layer: Int32Array): Rows {
    const rows: number[][] = [];
    const ups: number[][] = Array.from({ length: count }, () => []);
    const downs: number[][] = Array.from({ length: count }, () => []);
    const height = Array<number>(count).fill(ROW);
    for (let node = 0; node < count; node += 1) (rows[layer[node]!] ??= []).push(node);
    for (let at = 0; at < rows.length; at += 1) rows[at] ??= [];
    let passes = 0;
    for (let edge = 0; edge < forward.length; edge += 2) {
        passes += Math.max(0, layer[forward[edge + 1]!]! - layer[forward[edge]!]! - 1);
    }
    const passesOf: number[][] = [];
    for (let edge = 0; 2 * edge < forward.length; edge += 1) {
        const [from, to] = [forward[2 * edge]!, forward[2 * edge + 1]!];
        const slots: number[] = [];
        passesOf.push(slots);
        if (layer[to]! <= layer[from]!) continue;
        if (passes > PASSES_MAX && layer[to]! - layer[from]! > 1) continue;
        let before = from;
        for (let at = layer[from]! + 1; at < layer[to]!; at += 1) {
            const slot = height.length;
            height.push(passes > PASSES_WIDE_MAX ? PASS / 3 : PASS);
            ups.push([before]);
            downs.push([]);
            downs[before]!.push(slot);
            rows[at]!.push(slot);
            slots.push(slot);
            before = slot;
        }
        downs[before]!.push(to);
        ups[to]!.push(before);
    }
    return { rows, ups, downs, passesOf, height };
}

/** Neighbours stand near each other from the beginning: in the order of a walk from the start. */
function firstOrder({ start }: LayoutQuestion, rows: number[][], ups: number[][], downs: number[][]): void {
    const rank = new Map<number, number>();
    const visit = (from: number) => {
        const queue = [from];
        for (const slot of queue) {
            if (rank.has(slot)) continue;
            rank.set(slot, rank.size);
            queue.push(...downs[slot]!, ...ups[slot]!);
        }
    };
    visit(start);
    for (let slot = 0; slot < ups.length; slot += 1) visit(slot);
    for (const row of rows) row.sort((one, other) => rank.get(one)! - rank.get(other)!);
}

/** Sweeps forth and back until nothing gets better, or the time is over; the order with the fewest crossings stays. */
function sortRows(rows: number[][], ups: number[][], downs: number[][], budget: number): void {
    const end = performance.now() + budget;
    let best = rows.map((row) => row.slice());
    let fewest = crossings(rows, downs);
    for (let round = 0, idle = 0; fewest > 0 && idle < 6 && performance.now() < end; round += 1) {
        sweep(rows, ups, downs, round % 2 === 0);
        const found = crossings(rows, downs);
        idle = found < fewest ? 0 : idle + 1;
        if (found < fewest) {
            fewest = found;
            best = rows.map((row) => row.slice());
        }
    }
    best.forEach((row, at) => {
        rows[at] = row;
    });
}

/** Puts each slot at the mean of its neighbours in the layer before, or behind. */
function sweep(rows: number[][], ups: number[][], downs: number[][], isDown: boolean): void {
    const links = isDown ? ups : downs;
    const place = new Float64Array(ups.length);
    for (const row of rows) row.forEach((slot, index) => (place[slot] = index));
    for (const row of isDown ? rows : rows.toReversed()) {
        const wanted = new Map(
            row.map((slot): [number, number] => {
                const near = links[slot]!;
                const mean = near.reduce((sum, one) => sum + place[one]!, 0) / near.length;
                return [slot, near.length > 0 ? mean : place[slot]!];
            }),
        );
        row.sort((one, other) => wanted.get(one)! - wanted.get(other)!);
        row.forEach((slot, index) => (place[slot] = index));
    }
}

/** Counts crossings between all neighbouring layers, by a tree of sums. */
function crossings(rows: number[][], downs: number[][]): number {
    let found = 0;
    const place = new Map<number, number>();
    for (let at = 0; at + 1 < rows.length; at += 1) {
        place.clear();
        rows[at + 1]!.forEach((slot, index) => place.set(slot, index));
        const size = rows[at + 1]!.length;
        const sums = new Uint32Array(size + 1);
        let all = 0;
        for (const slot of rows[at]!) {
            const ends = downs[slot]!.map((target) => place.get(target) ?? 0).sort((one, other) => one - other);
            for (const end of ends) {
                let notAfter = 0;
                for (let index = end + 1; index > 0; index -= index & -index) notAfter += sums[index]!;
                found += all - notAfter;
            }
            for (const end of ends) {
                for (let index = end + 1; index <= size; index += index & -index) sums[index]! += 1;
                all += 1;
            }
        }
    }
    return found;
}

/** Heights in which edges are short: each layer in turn takes the heights nearest to those of its neighbours. */
function heights(rows: number[][], ups: number[][], downs: number[][], height: number[]): Float64Array {
    const y = new Float64Array(height.length);
    for (const row of rows) {
        let at = 0;
        for (const slot of row) {
            y[slot] = at + height[slot]! / 2;
            at += height[slot]!;
        }
    }
    const mean = (near: number[], own: number) =>
        near.length > 0 ? near.reduce((sum, one) => sum + y[one]!, 0) / near.length : own;
    const rounds = height.length > SORTED_MAX ? 10 : 40;
    for (let round = 0; round < rounds; round += 1) {
        const isDown = round % 2 === 0;
        for (const row of isDown ? rows : rows.toReversed()) {
            const wanted = row.map((slot) => {
                const near = round >= rounds - 2 ? [...ups[slot]!, ...downs[slot]!] : isDown ? ups[slot]! : downs[slot]!;
                return mean(near, y[slot]!);
            });
            fit(row, wanted, height, y);
        }
    }
    let least = Infinity;
    for (const row of rows) for (const slot of row) least = Math.min(least, y[slot]! - height[slot]! / 2);
    return y.map((one) => one - (Number.isFinite(least) ? least : 0));
}

/** The heights nearest to those wanted that keep the order and the distances (pool adjacent violators). */
function fit(row: number[], wanted: number[], height: number[], y: Float64Array): void {
    const blocks: { sum: number; weight: number; size: number }[] = [];
    const offsets: number[] = [];
    let offset = 0;
    row.forEach((slot, index) => {
        if (index > 0) offset += (height[row[index - 1]!]! + height[slot]!) / 2;
        offsets.push(offset);
        // A passing edge keeps straight sooner than a node keeps its place.
        const weight = height[slot] === ROW ? 1 : 3;
        let block = { sum: (wanted[index]! - offset) * weight, weight, size: 1 };
        for (let last = blocks.at(-1); last && last.sum / last.weight > block.sum / block.weight; last = blocks.at(-1)) {
            block = { sum: last.sum + block.sum, weight: last.weight + block.weight, size: last.size + block.size };
            blocks.pop();
        }
        blocks.push(block);
    });
    let index = 0;
    for (const { sum, weight, size } of blocks) {
        for (let left = size; left > 0; left -= 1, index += 1) y[row[index]!] = sum / weight + offsets[index]!;
    }
}
