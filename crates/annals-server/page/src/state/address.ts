// The address of the page holds all state: what is shown, of when, and what is selected.
import { signal } from "@preact/signals";

/** The views. */
export type View = "search" | "entity" | "lineage";

/** The state of the page. Every text is empty if the address does not have it. */
export interface Address {
    view: View;
    /** The search. */
    q: string;
    /** The order of the hits: a property or a header such as `@id`, with a minus sign for largest first. */
    sort: string;
    /** The entity that is shown, or where the lineage begins. */
    id: string;
    /** Steps of the lineage against the flow and with it. */
    up: number;
    down: number;
    /** The relationship types of the lineage, each with the direction of the flow: `reads:in,writes:out`. */
    types: string;
    /** The time of all views, in the names of the API. */
    atPosition: string;
    at: string;
    validAt: string;
    /** The time that the lineage is compared with. */
    compare: string;
    /** The selected entity, and the one that is marked as the other end of a path. */
    sel: string;
    mark: string;
    /** True if only the path between these two is shown. */
    path: boolean;
    /** True if the list of a comparison has only what differs. */
    differing: boolean;
}

const NONE: Address = {
    view: "search",
    q: "",
    sort: "",
    id: "",
    up: 2,
    down: 2,
    types: "",
    atPosition: "",
    at: "",
    validAt: "",
    compare: "",
    sel: "",
    mark: "",
    path: false,
    differing: false,
};

/** Most steps of a lineage in one direction. */
export const DEPTH_MAX = 20;

const VIEWS: readonly string[] = ["search", "entity", "lineage"];

/** Reads the query of an address. What it does not know is left out. */
export function parse(query: string): Address {
    const given = new URLSearchParams(query);
    const text = (name: keyof Address) => given.get(name) ?? "";
    const depth = (name: "up" | "down") => {
        const number = Number.parseInt(given.get(name) ?? "", 10);
        return Number.isNaN(number) ? NONE[name] : Math.min(Math.max(number, 0), DEPTH_MAX);
    };
    const view = VIEWS.includes(text("view")) ? (text("view") as View) : NONE.view;
    return {
        view,
        q: text("q"),
        sort: text("sort"),
        id: text("id"),
        up: depth("up"),
        down: depth("down"),
        types: text("types"),
        atPosition: text("atPosition"),
        at: text("at"),
        validAt: text("validAt"),
        compare: text("compare"),
        sel: text("sel"),
        mark: text("mark"),
        path: text("path") === "true",
        differing: text("differing") === "true",
    };
}

/** Writes the query of an address; what is usual is left out. */
export function format(address: Address): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(address) as [keyof Address, string | number | boolean][]) {
        if (value !== NONE[name]) query.set(name, String(value));
    }
    // Colons and commas are common in ids and lists, and addresses are read by people.
    const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%40", "@");
    return text ? `?${text}` : "";
}

/** The state now. */
export const address = signal<Address>(parse(location.search));

addEventListener("popstate", () => {
    address.value = parse(location.search);
});

/** The address of a state that differs from the one now. */
export function linkTo(change: Partial<Address>): string {
    return `${location.pathname}${format({ ...address.value, ...change })}`;
}

/** Goes to another state. A step that only moves the selection replaces the entry in the history of the browser. */
export function go(change: Partial<Address>, isStep = true): void {
    const next = { ...address.value, ...change };
    const link = `${location.pathname}${format(next)}`;
    if (link === location.pathname + location.search) return;
    if (isStep) history.pushState(null, "", link);
    else history.replaceState(null, "", link);
    address.value = next;
}

/** What leads to an entity: what was selected elsewhere is forgotten. */
export function toEntity(id: string): Partial<Address> {
    return { view: "entity", id, sel: "", mark: "", path: false };
}

/** What leads to the lineage of an entity. */
export function toLineage(id: string): Partial<Address> {
    return { view: "lineage", id, sel: "", mark: "", path: false };
}

/** What leads to a search. */
export function toSearch(q: string): Partial<Address> {
    return { view: "search", q, sort: "", sel: "", mark: "", path: false };
}
