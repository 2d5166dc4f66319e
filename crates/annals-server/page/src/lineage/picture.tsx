// The picture of a lineage: a canvas that pans and zooms. The list beside it has the same for keys and screen readers.
import { useEffect, useRef, useState } from "preact/hooks";
import { scheme } from "../state/scheme.ts";
import { layOutBeside } from "./beside.ts";
import type { Merged } from "./difference.ts";
import { type Camera, draw, type Marks, NODE_HEIGHT, NODE_WIDTH, nodeAt, palette, type Scene, sceneOf } from "./draw.ts";

/** Scales of the picture. At the first look names can be read, if that leaves anything to see. */
const SCALE_MIN = 0.02;
const SCALE_MAX = 2.5;
const FIRST_SCALE_MIN = 0.8;
/** Around all of it. Units: pixels. */
const MARGIN = 24;
/** Time for the search for few crossings. Units: ms. */
const BUDGET = 400;

/** Buttons and keys move the picture by these. */
export interface Mover {
    zoom: (factor: number) => void;
    fit: () => void;
}

/** The picture. */
export function Picture(properties: {
    merged: Merged;
    marks: Marks;
    select: (id: string) => void;
    open: (id: string) => void;
    mover: { current: Mover | null };
}) {
    const { merged, marks, select, open, mover } = properties;
    const canvas = useRef<HTMLCanvasElement>(null);
    const [scene, show] = useState<Scene | null>(null);
    const camera = useRef<Camera>({ x: 0, y: 0, scale: 1 });
    const paint = useRef<() => void>(() => undefined);

    useEffect(() => {
        let isLeft = false;
        void layOutBeside(questionOf(merged, marks.start)).then((layout) => {
            if (isLeft) return;
            const next = sceneOf(merged, layout);
            look(camera.current, next, marks.start, canvas.current);
            show(next);
        });
        return () => {
            isLeft = true;
        };
    }, [merged, marks.start]);

    useEffect(() => {
        const element = canvas.current;
        const context = element?.getContext("2d");
        if (!element || !context || !scene) return undefined;
        let asked = 0;
        const colours = palette(element);
        const now = () => {
            asked = 0;
            const ratio = devicePixelRatio || 1;
            const { clientWidth: width, clientHeight: height } = element;
            if (element.width !== Math.round(width * ratio)) element.width = Math.round(width * ratio);
            if (element.height !== Math.round(height * ratio)) element.height = Math.round(height * ratio);
            draw(context, scene, camera.current, marks, colours, { width, height, ratio });
        };
        paint.current = () => {
            asked ||= requestAnimationFrame(now);
        };
        const selected = scene.indexOf.get(marks.selected);
        if (selected !== undefined) reveal(camera.current, scene, selected, element);
        now();
        const observer = new ResizeObserver(() => paint.current());
        observer.observe(element);
        return () => {
            observer.disconnect();
            if (asked) cancelAnimationFrame(asked);
        };
    }, [scene, marks.selected, marks.marked, marks.start, scheme.value]);

    mover.current = {
        zoom: (factor) => {
            const element = canvas.current;
            if (element) zoom(camera.current, factor, element.clientWidth / 2, element.clientHeight / 2);
            paint.current();
        },
        fit: () => {
            if (scene && canvas.current) fit(camera.current, scene, canvas.current, SCALE_MIN);
            paint.current();
        },
    };
    return (
        <div class="picture" aria-hidden="true">
            <canvas ref={canvas} {...gestures(camera.current, () => scene, () => paint.current(), { select, open })} />
            {!scene && <p class="state loading">Lays out …</p>}
        </div>
    );
}

function questionOf(merged: Merged, start: string) {
    const index = new Map([...merged.nodes.keys()].map((id, number): [string, number] => [id, number]));
    const edges = new Int32Array(merged.edges.length * 2);
    merged.edges.forEach((edge, number) => {
        edges[2 * number] = index.get(edge.from) ?? 0;
        edges[2 * number + 1] = index.get(edge.to) ?? 0;
    });
    return { count: merged.nodes.size, edges, start: index.get(start) ?? 0, budget: BUDGET };
}

/** The first look: all of it, or the start if all of it is too small to read. */
function look(camera: Camera, scene: Scene, start: string, element: HTMLCanvasElement | null): void {
    if (!element) return;
    fit(camera, scene, element, FIRST_SCALE_MIN);
    const index = scene.indexOf.get(start);
    const { clientWidth: width, clientHeight: height } = element;
    const isWider = scene.width * camera.scale > width;
    const isHigher = scene.height * camera.scale > height;
    if (index === undefined) return;
    // The start in the middle, but no more than a margin of empty space.
    const within = (middle: number, room: number, all: number) =>
        Math.max(-MARGIN, Math.min(middle - room / 2, all + MARGIN - room));
    if (isWider) camera.x = within(scene.x[index]! + NODE_WIDTH / 2, width / camera.scale, scene.width);
    if (isHigher) camera.y = within(scene.y[index]! + NODE_HEIGHT / 2, height / camera.scale, scene.height);
}

function fit(camera: Camera, scene: Scene, element: HTMLCanvasElement, scaleMin: number): void {
    const { clientWidth: width, clientHeight: height } = element;
    const scale = Math.min((width - 2 * MARGIN) / scene.width, (height - 2 * MARGIN) / scene.height, 1.15);
    camera.scale = Math.max(scale, scaleMin);
    camera.x = scene.width / 2 - width / camera.scale / 2;
    camera.y = scene.height / 2 - height / camera.scale / 2;
}

/** Moves the picture no more than needed to show a node. */
function reveal(camera: Camera, scene: Scene, index: number, element: HTMLCanvasElement): void {
    const [width, height] = [element.clientWidth / camera.scale, element.clientHeight / camera.scale];
    const [x, y] = [scene.x[index]!, scene.y[index]!];
    const margin = 16;
    if (x - margin < camera.x) camera.x = x - margin;
    if (x + NODE_WIDTH + margin > camera.x + width) camera.x = x + NODE_WIDTH + margin - width;
    if (y - margin < camera.y) camera.y = y - margin;
    if (y + NODE_HEIGHT + margin > camera.y + height) camera.y = y + NODE_HEIGHT + margin - height;
}

function zoom(camera: Camera, factor: number, atX: number, atY: number): void {
    const scale = Math.min(Math.max(camera.scale * factor, SCALE_MIN), SCALE_MAX);
    camera.x += atX / camera.scale - atX / scale;
    camera.y += atY / camera.scale - atY / scale;
    camera.scale = scale;
}

/** Drags, wheels, two fingers and clicks. */
function gestures(
    camera: Camera,
    scene: () => Scene | null,
    paint: () => void,
    act: { select: (id: string) => void; open: (id: string) => void },
) {
    const at = (event: MouseEvent) => {
        const shown = scene();
        if (!shown) return undefined;
        const index = nodeAt(shown, camera.x + event.offsetX / camera.scale, camera.y + event.offsetY / camera.scale);
        return shown.nodes[index]?.id;
    };
    return {
        onPointerDown: (event: PointerEvent) => {
            const element = event.currentTarget as HTMLCanvasElement;
            element.setPointerCapture(event.pointerId);
            fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        },
        onPointerMove: (event: PointerEvent) => {
            const before = fingers.get(event.pointerId);
            if (!before) return;
            const now = { x: event.offsetX, y: event.offsetY };
            const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
            if (other) {
                const distance = (one: typeof now) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
                zoom(camera, distance(now) / distance(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
            } else {
                camera.x -= (now.x - before.x) / camera.scale;
                camera.y -= (now.y - before.y) / camera.scale;
            }
            fingers.set(event.pointerId, now);
            paint();
        },
        onPointerUp: (event: PointerEvent) => void fingers.delete(event.pointerId),
        onPointerCancel: (event: PointerEvent) => void fingers.delete(event.pointerId),
        onWheel: (event: WheelEvent) => {
            event.preventDefault();
            zoom(camera, Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
            paint();
        },
        onClick: (event: MouseEvent) => {
            const id = at(event);
            if (id !== undefined) act.select(id);
        },
        onDblClick: (event: MouseEvent) => {
            const id = at(event);
            if (id !== undefined) act.open(id);
        },
    };
}

/** The pointers that are down, with their last places. */
const fingers = new Map<number, { x: number; y: number }>();
