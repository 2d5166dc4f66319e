// The four states of a view without an answer: loading, empty, failed and refused.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Answer, askAgain } from "../api/answer.ts";
import { type Failure, token } from "../api/client.ts";

/** Shows an answer, or the state of its question. */
export function Show<T>(properties: {
    answer: Answer<T>;
    /** What is asked for, such as "the entity". */
    what: string;
    children: (value: T) => ComponentChildren;
    /** Shows what is not there in a way of the view's own. */
    absent?: (failure: Failure) => ComponentChildren;
}) {
    const { answer, what, children, absent } = properties;
    if (answer.state === "ready") return <>{children(answer.value)}</>;
    if (answer.state === "loading") return <Loading what={what} progress={answer.progress} />;
    if (answer.failure.state === "absent" && absent) return <>{absent(answer.failure)}</>;
    return <Failed failure={answer.failure} what={what} />;
}

/** The answer is not there yet. It appears after a moment, so that quick answers do not flicker. */
export function Loading({ what, progress = "" }: { what: string; progress?: string }) {
    return (
        <p class="state loading" data-state="loading" role="status">
            Loads {what} … {progress}
        </p>
    );
}

/** There is an answer, and nothing is in it. */
export function Empty({ children }: { children: ComponentChildren }) {
    return (
        <div class="state" data-state="empty">
            {children}
        </div>
    );
}

/** The question failed, or the client may not ask it. */
export function Failed({ failure, what }: { failure: Failure; what: string }) {
    if (failure.state === "refused") return <Refused failure={failure} />;
    return (
        <div class={failure.state === "absent" ? "state absent" : "state failed"} data-state={failure.state} role="alert">
            <strong>{failure.kind === "deleted" ? "Deleted" : failure.state === "absent" ? "Not there" : `Could not load ${what}`}</strong>
            <p>
                <bdi>{failure.text}</bdi>
            </p>
            {failure.state === "failed" && (
                <button type="button" onClick={askAgain}>
                    Try again
                </button>
            )}
        </div>
    );
}

function Refused({ failure }: { failure: Failure }) {
    const [typed, type] = useState("");
    const wasTried = token.value !== "";
    return (
        <div class="state refused" data-state="refused" role="alert">
            <strong>{failure.asksForToken ? "This server asks who you are" : "You may not see this"}</strong>
            <p>
                <bdi>{failure.text}</bdi>
            </p>
            {(failure.asksForToken || wasTried) && (
                <form
                    onSubmit={(event) => {
                        event.preventDefault();
                        // A header holds no other characters.
                        token.value = typed.trim().replace(/[^\x21-\x7e]/g, "");
                    }}
                >
                    <label for="token">{wasTried ? "Another token" : "Token"}</label>
                    <input
                        id="token"
                        type="password"
                        autocomplete="off"
                        value={typed}
                        onInput={(event) => type(event.currentTarget.value)}
                    />
                    <button type="submit">Sign in</button>
                    <p class="hint">This page keeps the token in memory only, until you close or reload it.</p>
                </form>
            )}
        </div>
    );
}
