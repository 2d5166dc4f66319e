// Draws a lineage on a canvas. It knows where everything stands, and nothing of the page.
import type { Change, Merged, MergedEdge, MergedNode } from "./difference.ts";
import type { Layout } from "./layout.ts";

/** Units: pixels of the picture at scale 1. */
export const NODE_WIDTH = 164;
export const NODE_HEIGHT = 40;
const LAYER_WIDTH = NODE_WIDTH + 56;
/** Below this scale names cannot be read. */
const NAMES_SCALE = 0.42;
/** Below this scale nodes have no borders. */
const CARDS_SCALE = 0.2;
/** Below this scale edges have no heads. */
const HEADS_SCALE = 0.25;
/** Above this many edges all are thin. */
const EDGES_THIN_MIN = 150;

/** A lineage with the place of everything. */
export interface Scene {
    nodes: MergedNode[];
    /** Left upper corners, by the order of `nodes`. */
    x: Float64Array;
    y: Float64Array;
    /** Shape: the points of each edge from left to right: x, y, x, y, … */
    edges: { edge: MergedEdge; points: Float64Array; isBack: boolean }[];
    indexOf: Map<string, number>;
    /** True if anything differs from the time that is compared with. */
    isDifferent: boolean;
    width: number;
    height: number;
}

/** What the picture looks at. */
export interface Camera {
    x: number;
    y: number;
    scale: number;
}

/** The colours, from the style sheet. */
export type Palette = Record<"ground" | "card" | "text" | "quiet" | "line" | "accent" | "added" | "removed" | "changed", string> & {
    kinds: string[];
};

/** Reads the colours that are in force. */
export function palette(element: Element): Palette {
    const style = getComputedStyle(element);
    const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const names = ["ground", "card", "text", "quiet", "line", "accent", "added", "removed", "changed"] as const;
    const colours = Object.fromEntries(names.map((name) => [name, of(name)])) as Omit<Palette, "kinds">;
    return { ...colours, kinds: Array.from({ length: 8 }, (_, index) => of(`kind-${index}`)) };
}

/** The number of the colour of a type: the same in each session. */
export function kindOfType(type: string): number {
    let hash = 7;
    for (let index = 0; index < type.length; index += 1) hash = (Math.imul(hash, 31) + type.charCodeAt(index)) >>> 0;
    return ((hash ^ (hash >>> 7)) >>> 0) % 8;
}

/** The scene of a layout. */
export function sceneOf(merged: Merged, layout: Layout): Scene {
    const nodes = [...merged.nodes.values()];
    const indexOf = new Map(nodes.map((node, index): [string, number] => [node.id, index]));
    const x = Float64Array.from(layout.layer, (layer) => layer * LAYER_WIDTH);
    const y = layout.y.map((middle) => middle - NODE_HEIGHT / 2);
    const edges = merged.edges.map((edge, number) => {
        const [from, to] = [indexOf.get(edge.from)!, indexOf.get(edge.to)!];
        // An edge that closes a circle was laid out from its target, and is drawn so.
        const isBack = layout.layer[to]! < layout.layer[from]!;
        const [left, right] = isBack ? [to, from] : [from, to];
        const points = [x[left]! + NODE_WIDTH, y[left]! + NODE_HEIGHT / 2];
        layout.passes[number]?.forEach((pass, step) => {
            const at = x[left]! + (step + 1) * LAYER_WIDTH;
            points.push(at, pass, at + NODE_WIDTH, pass);
        });
        points.push(x[right]!, y[right]! + NODE_HEIGHT / 2);
        return { edge, points: Float64Array.from(points), isBack };
    });
    const width = x.reduce((most, one) => Math.max(most, one), 0) + NODE_WIDTH;
    const height = y.reduce((most, one) => Math.max(most, one), 0) + NODE_HEIGHT;
    const isDifferent = nodes.some((node) => node.change !== "same");
    return { nodes, x, y, edges, indexOf, isDifferent, width, height };
}

/** The node at a point of the scene, or -1. */
export function nodeAt(scene: Scene, x: number, y: number): number {
    for (let index = 0; index < scene.nodes.length; index += 1) {
        const [left, top] = [scene.x[index]!, scene.y[index]!];
        if (x >= left && x <= left + NODE_WIDTH && y >= top && y <= top + NODE_HEIGHT) return index;
    }
    return -1;
}

/** What stands out. */
export interface Marks {
    start: string;
    selected: string;
    marked: string;
}

/** Draws what the camera sees. */
export function draw(
    context: CanvasRenderingContext2D,
    scene: Scene,
    camera: Camera,
    marks: Marks,
    colours: Palette,
    size: { width: number; height: number; ratio: number },
): void {
    const { width, height, ratio } = size;
    const { scale } = camera;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, -camera.x * scale * ratio, -camera.y * scale * ratio);
    const seen = { left: camera.x, top: camera.y, right: camera.x + width / scale, bottom: camera.y + height / scale };
    drawEdges(context, scene, marks, colours, scale);
    for (let index = 0; index < scene.nodes.length; index += 1) {
        const [x, y] = [scene.x[index]!, scene.y[index]!];
        if (x > seen.right || y > seen.bottom || x + NODE_WIDTH < seen.left || y + NODE_HEIGHT < seen.top) continue;
        drawNode(context, scene, index, marks, colours, scale);
    }
}

function colourOf(change: Change, colours: Palette): string {
    return change === "same" ? colours.line : colours[change];
}

/** Edges that look the same, drawn together. */
interface Look {
    change: Change;
    /** True if they touch the selected node. */
    isNear: boolean;
    path: Path2D;
    heads: Path2D;
}


function drawEdges(
    context: CanvasRenderingContext2D,
    scene: Scene,
    marks: Marks,
    colours: Palette,
    scale: number,
): void {
    // Hundreds of edges side by side would be one block of colour.
    const isMany = scene.edges.length > EDGES_THIN_MIN;
    for (const { change, isNear, path, heads } of looksOf(scene, marks.selected)) {
        const colour = isNear && change === "same" ? colours.accent : colourOf(change, colours);
        const width = (change === "same" ? 1.25 : 2) + (isNear ? 0.75 : 0);
        context.strokeStyle = colour;
        context.fillStyle = colour;
        context.lineWidth = isMany ? Math.min(width, 1.25) : Math.max(width, 0.7 / scale);
        context.globalAlpha = isMany && !isNear ? 0.55 : 1;
        context.setLineDash(change === "removed" ? [6, 4] : []);
        context.stroke(path);
        context.setLineDash([]);
        if (scale > HEADS_SCALE) context.fill(heads);
    }
    context.globalAlpha = 1;
}

/** The looks of the last scene and selection: while the picture moves, they stay as they are. */
let lastLooks: { scene: Scene; selected: string; looks: Look[] } | null = null;

/** One path for each look: thousands of edges are then drawn in a few calls. */
function looksOf(scene: Scene, selected: string): Look[] {
    if (lastLooks?.scene === scene && lastLooks.selected === selected) return lastLooks.looks;
    const looks = new Map<string, Look>();
    for (const { edge, points, isBack } of scene.edges) {
        const isNear = selected !== "" && (edge.from === selected || edge.to === selected);
        const key = `${edge.change}${isNear}`;
        let look = looks.get(key);
        if (!look) {
            look = { change: edge.change, isNear, path: new Path2D(), heads: new Path2D() };
            looks.set(key, look);
        }
        trace(look.path, points);
        head(look.heads, points, isBack);
    }
    // The selected ones lie above the others.
    const order = [...looks.values()].sort((one, other) => Number(one.isNear) - Number(other.isNear));
    lastLooks = { scene, selected, looks: order };
    return order;
}

function trace(path: Path2D, points: Float64Array): void {
    path.moveTo(points[0]!, points[1]!);
    for (let at = 2; at < points.length; at += 2) {
        const [x0, y0, x1, y1] = [points[at - 2]!, points[at - 1]!, points[at]!, points[at + 1]!];
        if (y0 === y1) path.lineTo(x1, y1);
        else path.bezierCurveTo(x0 + (x1 - x0) * 0.5, y0, x0 + (x1 - x0) * 0.5, y1, x1, y1);
    }
}

function head(path: Path2D, points: Float64Array, isBack: boolean): void {
    const [x, y, step] = isBack
        ? [points[0]!, points[1]!, 7]
        : [points[points.length - 2]!, points[points.length - 1]!, -7];
    path.moveTo(x, y);
    path.lineTo(x + step, y - 3.5);
    path.lineTo(x + step, y + 3.5);
    path.closePath();
}

/** The sign of a change, which does not need colours. */
export const SIGNS: Record<Change, string> = { same: "", added: "+", removed: "−", changed: "~" };

function drawNode(
    context: CanvasRenderingContext2D,
    scene: Scene,
    index: number,
    marks: Marks,
    colours: Palette,
    scale: number,
): void {
    const node = scene.nodes[index]!;
    const [x, y] = [scene.x[index]!, scene.y[index]!];
    const isSelected = node.id === marks.selected || node.id === marks.marked;
    const isStart = node.id === marks.start;
    const kind = colours.kinds[kindOfType(node.type)] ?? colours.line;
    if (scale < CARDS_SCALE) {
        // From afar a node is a spot of colour. Beside differences the colours of types would look like some.
        const same = isStart || isSelected ? colours.text : scene.isDifferent ? colours.line : kind;
        context.fillStyle = node.change === "same" ? same : colourOf(node.change, colours);
        context.fillRect(x, y, Math.max(NODE_WIDTH, 3 / scale), Math.max(NODE_HEIGHT, 2 / scale));
        return;
    }
    context.fillStyle = colours.card;
    context.beginPath();
    context.roundRect(x, y, NODE_WIDTH, NODE_HEIGHT, 6);
    context.fill();
    context.setLineDash(node.change === "removed" ? [6, 4] : []);
    context.strokeStyle = node.change === "same" && isStart ? colours.text : colourOf(node.change, colours);
    context.lineWidth = node.change !== "same" || isStart ? 2 : 1;
    context.stroke();
    context.setLineDash([]);
    if (isSelected) {
        context.strokeStyle = colours.accent;
        context.lineWidth = 3;
        context.beginPath();
        context.roundRect(x - 3, y - 3, NODE_WIDTH + 6, NODE_HEIGHT + 6, 8);
        context.stroke();
    }
    context.fillStyle = kind;
    context.beginPath();
    context.roundRect(x + 5, y + 7, 4, NODE_HEIGHT - 14, 2);
    context.fill();
    if (scale < NAMES_SCALE) return;
    const sign = SIGNS[node.change];
    const room = NODE_WIDTH - 24 - (sign ? 18 : 0);
    context.textBaseline = "alphabetic";
    context.fillStyle = node.change === "removed" ? colours.quiet : colours.text;
    context.font = "600 13px system-ui, sans-serif";
    context.fillText(fitted(context, node.name, room), x + 16, y + 17);
    context.fillStyle = colours.quiet;
    context.font = "11px system-ui, sans-serif";
    context.fillText(fitted(context, node.classified.length > 0 ? `${node.type} · ${node.classified.join(", ")}` : node.type, room), x + 16, y + 32);
    if (sign) {
        context.fillStyle = colourOf(node.change, colours);
        context.font = "700 18px system-ui, sans-serif";
        context.textAlign = "center";
        context.fillText(sign, x + NODE_WIDTH - 14, y + 26);
        context.textAlign = "start";
    }
}

const widths = new Map<string, string>();

/** A text that is not wider than `room`. Its direction stays inside: marks of other directions end with it. */
function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
    const key = `${context.font} ${room} ${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    if (widths.size > 20_000) widths.clear();
    const line = text.replace(/\s+/g, " ").slice(0, 80);
    let least = 0;
    let most = line.length;
    const isWhole = line.length === text.length && context.measureText(line).width <= room;
    while (!isWhole && least < most) {
        const middle = Math.ceil((least + most) / 2);
        if (context.measureText(`${line.slice(0, middle)}…`).width <= room) least = middle;
        else most = middle - 1;
    }
    const found = `\u2068${isWhole ? line : `${line.slice(0, least)}…`}\u2069`;
    widths.set(key, found);
    return found;
}
