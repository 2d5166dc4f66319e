// Every action of the page: its key, its words in the menu and in the help, and what it does.
import { signal } from "@preact/signals";
import { askAgain } from "../api/answer.ts";
import { asFailure, isAbort } from "../api/client.ts";
import { address, go, type View } from "../state/address.ts";
import { commitAfter, commitBefore, scope } from "../state/commits.ts";
import { nextScheme } from "../state/scheme.ts";
import { NOW, timeInWords, timeOf } from "../state/time.ts";

/** An action. */
export interface Action {
    /** The keys, one after the other, as `KeyboardEvent.key` names them. */
    keys: string;
    words: string;
    /** The view that has it; without one, every view. */
    view?: View;
    run: () => void;
}

/** A short message for everybody, which screen readers speak. */
export const notice = signal("");
/** The dialogue that is open. */
export const dialogue = signal<"" | "help" | "menu">("");
/** The actions of the view that is shown, which it sets. */
export const ofView = signal<Action[]>([]);

let stepping: AbortController | null = null;

/** Goes to the commit before or after that changed something in view. */
async function stepInTime(isBack: boolean): Promise<void> {
    stepping?.abort();
    stepping = new AbortController();
    const time = timeOf(address.value);
    notice.value = "looks for the commit …";
    try {
        const commit = await (isBack ? commitBefore : commitAfter)(time, stepping.signal);
        if (commit) {
            go({ atPosition: String(commit.position), at: "" });
            notice.value = `commit ${commit.position} by ${commit.author || "nobody"}: ${commit.message || "no message"}`;
        } else if (isBack) {
            notice.value = `no earlier commit changed ${scope.value.words}`;
        } else {
            go({ atPosition: "", at: "" });
            notice.value = `no later commit changed ${scope.value.words}: now`;
        }
    } catch (error) {
        if (!isAbort(error)) notice.value = asFailure(error).text;
    }
}

/** Compares with the commit before, or ends the comparison. */
async function compare(): Promise<void> {
    if (address.value.compare) return go({ compare: "" });
    try {
        const commit = await commitBefore(timeOf(address.value));
        if (!commit) notice.value = `no earlier commit changed ${scope.value.words}: type a time to compare with`;
        else go({ compare: String(commit.position), view: "lineage" });
    } catch (error) {
        notice.value = asFailure(error).text;
    }
}

/** Focuses an element now, or, if its view is not drawn yet, when it is. */
function focus(selector: string): void {
    const element = document.querySelector<HTMLElement>(selector);
    if (element) element.focus();
    else setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus(), 30);
}

/** The actions of every view. */
const COMMON: Action[] = [
    {
        keys: "/",
        words: "Search",
        run: () => {
            if (address.value.view !== "search") go({ view: "search", sel: "", mark: "", path: false });
            focus("#search");
        },
    },
    { keys: "g s", words: "Go to the search", run: () => go({ view: "search", sel: "", mark: "", path: false }) },
    { keys: "g e", words: "Go to the entity", run: () => go({ view: "entity", id: address.value.sel || address.value.id }) },
    { keys: "g l", words: "Go to the lineage", run: () => go({ view: "lineage", id: address.value.id }) },
    { keys: "[", words: "To the commit before that changed something in view", run: () => void stepInTime(true) },
    { keys: "]", words: "To the next commit that changed something in view", run: () => void stepInTime(false) },
    {
        keys: "n",
        words: "Now",
        run: () => {
            go({ ...NOW });
            notice.value = timeInWords(NOW);
        },
    },
    { keys: "t", words: "Type a time", run: () => focus("#known-at") },
    { keys: "c", words: "Compare the lineage with the commit before, or end it", view: "lineage", run: () => void compare() },
    { keys: "r", words: "Ask the server again", run: askAgain },
    { keys: "s", words: "Colours: as the system, light, dark", run: nextScheme },
    { keys: "m", words: "Menu", run: () => (dialogue.value = dialogue.value === "menu" ? "" : "menu") },
    { keys: "?", words: "Keys", run: () => (dialogue.value = dialogue.value === "help" ? "" : "help") },
];

/** The actions that the view has now. */
export function actions(): Action[] {
    const { view } = address.value;
    return [...COMMON.filter((action) => !action.view || action.view === view), ...ofView.value];
}

let before = "";

/** Listens to the keys of the page. */
export function listenToKeys(): void {
    addEventListener("keydown", (event) => {
        const target = event.target as HTMLElement;
        const isTyping = target.matches("input, textarea, select") || target.isContentEditable;
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (event.key === "Escape") {
            if (dialogue.value) dialogue.value = "";
            else if (isTyping) target.blur();
            return;
        }
        if (isTyping) return;
        const keys = before ? `${before} ${event.key}` : event.key;
        before = !before && event.key === "g" ? "g" : "";
        const action = actions().find((known) => known.keys === keys);
        if (!action) return;
        event.preventDefault();
        // An action leaves the dialogue that shows its key; the keys of the dialogues close their own.
        if (keys !== "m" && keys !== "?") dialogue.value = "";
        action.run();
    });
}
