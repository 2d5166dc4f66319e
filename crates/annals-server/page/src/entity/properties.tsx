// The properties of an entity, with the version, author and instant that set each; and its classifications.
import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import type { Entity, Json, Version } from "../api/forms.ts";
import { Link } from "../frame/link.tsx";
import { address, toSearch } from "../state/address.ts";
import { formatTime, timeOf } from "../state/time.ts";
import { quoted } from "../words/names.ts";
import { shortInstant } from "../words/instants.ts";
import { bytesInWords, kindOf, shortened, textOf } from "../words/values.ts";
import { blame } from "./blame.ts";

/** Longer texts are cut, and shown on request. Units: characters. */
const SHORT = 600;

/** The table of properties. */
export function Properties({ entity }: { entity: Entity }) {
    const names = Object.keys(entity.properties).sort();
    const key = `blame ${entity.id} ${entity.version} ${formatTime(timeOf(address.value))}`;
    const answer = useAnswer(names.length > 0 ? key : null, (signal) => blame(entity, signal));
    const values = entity.properties as Record<string, Json>;
    return (
        <section>
            <h2>Properties</h2>
            {names.length === 0 ? (
                <p class="none">none</p>
            ) : (
                <table class="properties">
                    <thead>
                        <tr>
                            <th scope="col">name</th>
                            <th scope="col">value</th>
                            <th scope="col">set by</th>
                        </tr>
                    </thead>
                    <tbody>
                        {names.map((name) => (
                            <tr key={name} data-name={name}>
                                <th scope="row">
                                    <bdi>{name}</bdi>
                                </th>
                                <td data-part="value">
                                    <Value value={values[name] as Json} />
                                </td>
                                <td class="setter">
                                    {answer.state === "ready" && <Setter version={answer.value.get(name)} />}
                                    {answer.state === "loading" && "…"}
                                    {answer.state === "failure" && (
                                        <span title={answer.failure.text}>{answer.failure.state === "refused" ? "hidden" : "unknown"}</span>
                                    )}
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
        </section>
    );
}

function Setter({ version }: { version: Version | undefined }) {
    if (!version) return <>an older version</>;
    return (
        <>
            <bdi data-part="author">{version.author || "nobody"}</bdi>{" "}
            <Link
                to={{ atPosition: String(version.position), at: "" }}
                title={`${version.message} (position ${version.position}, ${version.instant})`}
                label={`v${version.version}, position ${version.position}`}
            >
                v{version.version}
            </Link>{" "}
            <span class="instant">{shortInstant(version.instant)}</span>
        </>
    );
}

/** A value, by its kind; always as text. */
export function Value({ value }: { value: Json }) {
    const [isWhole, show] = useState(false);
    const kind = kindOf(value);
    const text = textOf(value);
    const isLong = text.length > SHORT;
    return (
        <>
            <bdi class={`value ${kind}`}>{isLong && !isWhole ? shortened(text, SHORT) : text}</bdi>
            {!["text", "number", "boolean"].includes(kind) && <small> {kind}</small>}
            {isLong && (
                <button type="button" class="quiet" aria-expanded={isWhole} onClick={() => show(!isWhole)}>
                    {isWhole ? "Less" : `All ${bytesInWords(text.length)}`}
                </button>
            )}
        </>
    );
}

/** The classifications with their properties. */
export function Classifications({ entity }: { entity: Entity }) {
    const all = Object.entries(entity.classifications ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
    if (all.length === 0) return null;
    return (
        <section>
            <h2>Classifications</h2>
            {all.map(([name, { properties, updated, version }]) => (
                <div class="classification" key={name} data-name={name}>
                    <h3>
                        <Link to={toSearch(`* where classified ${quoted(name)}`)}>
                            <bdi>{name}</bdi>
                        </Link>
                        <small>
                            <bdi>{updated.author || "nobody"}</bdi> v{version} {shortInstant(updated.instant)}
                        </small>
                    </h3>
                    <dl>
                        {Object.entries(properties as Record<string, Json>).map(([property, value]) => (
                            <div key={property}>
                                <dt>
                                    <bdi>{property}</bdi>
                                </dt>
                                <dd>
                                    <Value value={value} />
                                </dd>
                            </div>
                        ))}
                    </dl>
                </div>
            ))}
        </section>
    );
}
