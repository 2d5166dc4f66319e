// The colours: light or dark, as the system wants them or as the user chose.
import { computed, effect, signal } from "@preact/signals";

export type Choice = "system" | "light" | "dark";

const KEY = "annals-scheme";
const system = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(system.matches);
system.addEventListener("change", () => {
    isSystemDark.value = system.matches;
});

/** What the user chose. It is the only thing that the page keeps in the browser. */
export const choice = signal<Choice>(kept());

/** The scheme in force. */
export const scheme = computed<"light" | "dark">(() =>
    choice.value === "system" ? (isSystemDark.value ? "dark" : "light") : choice.value,
);

/** Takes the next choice. */
export function nextScheme(): void {
    const order: Choice[] = ["system", "light", "dark"];
    choice.value = order[(order.indexOf(choice.value) + 1) % order.length] as Choice;
    try {
        localStorage.setItem(KEY, choice.value);
    } catch {
        // A browser may refuse to keep anything: the choice then holds for this page.
    }
}

function kept(): Choice {
    try {
        const found = localStorage.getItem(KEY);
        return found === "light" || found === "dark" ? found : "system";
    } catch {
        return "system";
    }
}

effect(() => {
    document.documentElement.dataset["scheme"] = scheme.value;
});
