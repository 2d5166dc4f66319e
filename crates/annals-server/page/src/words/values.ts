// Values of properties as texts.
import type { Json } from "../api/forms.ts";

/** Forms of one member, and what the value is. */
const KINDS: Record<string, string> = {
    $date: "date",
    $timestamp: "timestamp",
    $duration: "duration",
    $decimal: "decimal",
    $bytes: "bytes",
    $uuid: "uuid",
    $iri: "IRI",
    $literal: "literal",
    $content: "content",
    $set: "set",
    $list: "list",
    $map: "map",
    $float: "float",
};

/** The kind of a value. */
export function kindOf(value: Json): string {
    if (value === null) return "nothing";
    if (Array.isArray(value)) return "list";
    if (typeof value !== "object") return typeof value === "string" ? "text" : typeof value;
    const name = Object.keys(value).find((key) => key.startsWith("$"));
    return (name && KINDS[name]) || "map";
}

/** The value as a text: what stands in a form, or JSON. */
export function textOf(value: Json): string {
    if (typeof value === "string") return value;
    if (value === null || typeof value !== "object") return String(value);
    if (Array.isArray(value)) return value.map(inList).join(", ");
    const [name, inner] = Object.entries(value).find(([key]) => key in KINDS) ?? [];
    if (name === "$content") {
        const size = typeof value["size"] === "number" ? `, ${bytesInWords(value["size"])}` : "";
        return `${textOf(value["mediaType"] ?? "application/octet-stream")}${size}`;
    }
    if (name === "$literal") return `${textOf(inner ?? "")} (${textOf(value["language"] ?? value["datatype"] ?? "")})`;
    if (name && inner !== undefined && name !== "$map") return textOf(inner);
    return JSON.stringify(inner ?? value, null, 1);
}

function inList(value: Json): string {
    return typeof value === "string" && /[,\s]/.test(value) ? JSON.stringify(value) : textOf(value);
}

/** A text of at most so many characters. */
export function shortened(text: string, length: number): string {
    return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** `1.5 KiB`. */
export function bytesInWords(bytes: number): string {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    let value = bytes;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit += 1;
    }
    return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
