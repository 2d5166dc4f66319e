// The one box of the search: a field that completes while the user types.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Time } from "../state/time.ts";
import { useCompletion } from "./complete.ts";

/** The box. `search` gets the text when the user asks for it; it is completed as of a time. */
export function Box(properties: { value: string; time: Time; search: (text: string) => void }) {
    const { value, time, search } = properties;
    const field = useRef<HTMLInputElement>(null);
    const [typed, type] = useState(value);
    const [cursor, move] = useState(value.length);
    const [isOpen, open] = useState(false);
    const [chosen, choose] = useState(-1);
    useEffect(() => {
        type(value);
        open(false);
    }, [value]);
    const completion = useCompletion(isOpen ? typed : null, cursor, time);
    const shown = completion?.offers ?? [];
    // A quick typist takes an offer before it is there.
    const awaited = useRef(false);

    const take = (offer: string) => {
        awaited.current = false;
        if (!completion) return;
        const before = typed.slice(0, completion.from);
        const rest = typed.slice(completion.to);
        const gap = /[<>=!^$~]$/.test(before) ? " " : "";
        const text = `${before}${gap}${offer}${rest.startsWith(" ") ? "" : " "}`;
        type(text + rest);
        move(text.length);
        choose(-1);
        // At once, so that the next letter of a quick typist comes behind it.
        if (!field.current) return;
        field.current.value = text + rest;
        field.current.setSelectionRange(text.length, text.length);
    };
    useEffect(() => {
        if (!completion || !awaited.current) return;
        awaited.current = false;
        const offer = shown[chosen];
        if (offer) take(offer.text);
    }, [completion]);
    const press = (event: KeyboardEvent) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            const [step, count] = [event.key === "ArrowDown" ? 1 : -1, shown.length + 1];
            choose(completion ? (chosen + step + count) % count : 0);
            open(true);
            event.preventDefault();
        } else if (event.key === "Escape" && isOpen) {
            open(false);
            choose(-1);
            event.preventDefault();
        } else if ((event.key === "Enter" || event.key === "Tab") && shown[chosen]) {
            take(shown[chosen].text);
            event.preventDefault();
        } else if (event.key === "Enter" && isOpen && !completion && chosen >= 0) {
            awaited.current = true;
            event.preventDefault();
        } else if (event.key === "Enter") {
            open(false);
            search(typed.trim());
            event.preventDefault();
        }
    };
    return (
        <form
            class="box"
            role="search"
            onSubmit={(event) => {
                event.preventDefault();
                open(false);
                search(typed.trim());
            }}
        >
            <label for="search" class="unseen">
                Search
            </label>
            <input
                id="search"
                ref={field}
                role="combobox"
                aria-expanded={shown.length > 0}
                aria-controls="offers"
                aria-autocomplete="list"
                aria-activedescendant={shown[chosen] ? `offer-${chosen}` : undefined}
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                placeholder="a type, an id, or: table where owner = finance"
                value={typed}
                onInput={(event) => {
                    type(event.currentTarget.value);
                    move(event.currentTarget.selectionStart ?? event.currentTarget.value.length);
                    open(true);
                    choose(-1);
                    awaited.current = false;
                }}
                onKeyUp={(event) => move(event.currentTarget.selectionStart ?? 0)}
                onClick={(event) => move(event.currentTarget.selectionStart ?? 0)}
                onKeyDown={press}
                onBlur={() => open(false)}
            />
            <button type="submit">Search</button>
            <ul id="offers" role="listbox" aria-label="Completions" hidden={shown.length === 0}>
                {shown.map((offer, index) => (
                    <li
                        key={offer.kind + offer.text}
                        id={`offer-${index}`}
                        role="option"
                        aria-selected={index === chosen}
                        // Order: before the field loses the focus.
                        onMouseDown={(event) => {
                            event.preventDefault();
                            take(offer.text);
                        }}
                    >
                        <bdi>{offer.text}</bdi> <small>{offer.kind}</small>
                    </li>
                ))}
            </ul>
        </form>
    );
}
