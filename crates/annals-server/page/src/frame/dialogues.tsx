// The menu of actions and the help on keys.
import { useEffect, useRef } from "preact/hooks";
import { choice } from "../state/scheme.ts";
import { actions, dialogue } from "./actions.ts";

/** The open dialogue, if there is one. */
export function Dialogues() {
    return dialogue.value ? <Dialogue kind={dialogue.value} /> : null;
}

function Dialogue({ kind }: { kind: "help" | "menu" }) {
    const element = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        element.current?.showModal();
        element.current?.querySelector<HTMLElement>("button")?.focus();
    }, [kind]);
    const close = () => {
        dialogue.value = "";
    };
    return (
        <dialog
            ref={element}
            aria-label={kind === "help" ? "Keys" : "Menu"}
            onClose={close}
            onClick={(event) => event.target === element.current && close()}
        >
            <header>
                <h2>{kind === "help" ? "Keys" : "Menu"}</h2>
                <button type="button" onClick={close}>
                    Close
                </button>
            </header>
            {kind === "menu" ? <Menu /> : <Help />}
        </dialog>
    );
}

function Keys({ keys }: { keys: string }) {
    return (
        <span class="keys">
            {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
            ))}
        </span>
    );
}

function Menu() {
    return (
        <ul class="menu">
            {actions().map((action) => (
                <li key={action.keys}>
                    <button
                        type="button"
                        onClick={() => {
                            dialogue.value = "";
                            action.run();
                        }}
                    >
                        <span>
                            {action.words}
                            {action.keys === "s" && ` (${choice.value})`}
                        </span>
                        <Keys keys={action.keys} />
                    </button>
                </li>
            ))}
        </ul>
    );
}

function Help() {
    return (
        <>
            <table class="help">
                <tbody>
                    {actions().map((action) => (
                        <tr key={action.keys}>
                            <th scope="row">
                                <Keys keys={action.keys} />
                            </th>
                            <td>{action.words}</td>
                        </tr>
                    ))}
                    <tr>
                        <th scope="row">
                            <kbd>Esc</kbd>
                        </th>
                        <td>Close, or leave a field</td>
                    </tr>
                </tbody>
            </table>
            <p class="hint">
                Positions count the commits of the repository. "As known at" shows what was recorded until then; "true at" shows what
                held then, as far as is known.
            </p>
        </>
    );
}
