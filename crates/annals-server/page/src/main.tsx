// Starts the page.
import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./frame/app.tsx";
import { listenToKeys } from "./frame/actions.ts";
import { address } from "./state/address.ts";
import "./state/scheme.ts";

const TITLES = { search: "Search", entity: "Entity", lineage: "Lineage" };

effect(() => {
    const { view, q, id } = address.value;
    const of = (view === "search" ? q : id).slice(0, 80);
    document.title = `${TITLES[view]}${of ? ` ${of}` : ""} · Annals`;
});
listenToKeys();
render(<App />, document.body);
