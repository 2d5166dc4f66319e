// The page: its head, the control of time, and the view.
import { EntityView } from "../entity/view.tsx";
import { LineageView } from "../lineage/view.tsx";
import { SearchView } from "../search/view.tsx";
import { address, go, linkTo, type View } from "../state/address.ts";
import { dialogue, notice } from "./actions.ts";
import { Dialogues } from "./dialogues.tsx";
import { Link } from "./link.tsx";
import { TimeBar } from "./timebar.tsx";

const VIEWS: [View, string][] = [
    ["search", "Search"],
    ["entity", "Entity"],
    ["lineage", "Lineage"],
];

/** All of it. */
export function App() {
    const { view } = address.value;
    return (
        <>
            <header class="head">
                <a class="brand" href={linkTo({ view: "search", q: "", sort: "" })} onClick={(event) => follow(event)}>
                    annals
                </a>
                <nav aria-label="Views">
                    {VIEWS.map(([name, words]) => (
                        <Link
                            key={name}
                            to={name === "search" ? { view: name, sel: "", mark: "", path: false } : { view: name }}
                            current={view === name}
                        >
                            {words}
                        </Link>
                    ))}
                </nav>
                <button type="button" class="quiet" title="Menu (m)" onClick={() => (dialogue.value = "menu")}>
                    Menu
                </button>
                <button type="button" class="quiet" title="Keys (?)" aria-label="Keys" onClick={() => (dialogue.value = "help")}>
                    ?
                </button>
            </header>
            <TimeBar />
            <main>
                {view === "search" && <SearchView />}
                {view === "entity" && <EntityView />}
                {view === "lineage" && <LineageView />}
            </main>
            <div class="notice" role="status" aria-live="polite">
                <bdi>{notice.value}</bdi>
            </div>
            <Dialogues />
        </>
    );
}

function follow(event: MouseEvent): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go({ view: "search", q: "", sort: "", sel: "", mark: "", path: false });
}
