// Links inside the page: they change its state without loading it again, and open in another tab as any link.
import type { ComponentChildren } from "preact";
import { type Address, go, linkTo } from "../state/address.ts";

/** A link to another state of the page. */
export function Link(properties: {
    to: Partial<Address>;
    children: ComponentChildren;
    class?: string;
    current?: boolean;
    title?: string;
    label?: string;
}) {
    const { to, children, current, title, label } = properties;
    return (
        <a
            class={properties.class}
            href={linkTo(to)}
            title={title}
            aria-label={label}
            aria-current={current ? "page" : undefined}
            onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
                event.preventDefault();
                go(to);
            }}
        >
            {children}
        </a>
    );
}

/** An id, apart from the direction of the text around it. */
export function Id({ id }: { id: string }) {
    return (
        <bdi class="id" data-part="id">
            {id}
        </bdi>
    );
}
