// An entity: what it is, who set each property, its classifications, contents, neighbours and versions.
import { useEffect } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { ask, type Failure, step } from "../api/client.ts";
import type { Entity, Json, Page, Version } from "../api/forms.ts";
import { ofView } from "../frame/actions.ts";
import { Id, Link } from "../frame/link.tsx";
import { Empty, Failed, Show } from "../frame/states.tsx";
import { address, go, toLineage } from "../state/address.ts";
import { scope } from "../state/commits.ts";
import { formatTime, parametersOf, timeOf } from "../state/time.ts";
import { shortInstant } from "../words/instants.ts";
import { kindOf } from "../words/values.ts";
import { Contents } from "./contents.tsx";
import { History } from "./history.tsx";
import { Neighbours } from "./neighbours.tsx";
import { Classifications, Properties } from "./properties.tsx";

/** The view. */
export function EntityView() {
    const { id } = address.value;
    const time = timeOf(address.value);
    const when = formatTime(time);
    const answer = useAnswer(id ? `entity ${id} ${when}` : null, (signal) =>
        ask<Entity>(`v1/entities/${step(id)}`, { query: parametersOf(time), signal }),
    );
    useEffect(() => {
        ofView.value = [];
        scope.value = {
            filter: id ? { id } : {},
            touches: () => true,
            words: id || "anything",
        };
    }, [id]);
    if (!id) {
        return (
            <Empty>
                <h1>No entity is chosen</h1>
                <p>
                    <Link to={{ view: "search" }}>Search for one</Link>, or type an id into the search.
                </p>
            </Empty>
        );
    }
    const isTitled = answer.state === "ready" || (answer.state === "failure" && answer.failure.state === "absent");
    return (
        <>
            {!isTitled && (
                <h1>
                    <Id id={id} />
                </h1>
            )}
            <Show answer={answer} what="the entity" absent={(failure) => <NotThere id={id} failure={failure} />}>
                {(entity) => <Shown key={`${id} ${when}`} entity={entity} />}
            </Show>
        </>
    );
}

/** What a property holds that leads to stored bytes. */
function contentsOf(entity: Entity): string[] {
    const properties = Object.entries(entity.properties as Record<string, Json>);
    return properties.filter(([, value]) => kindOf(value) === "content").map(([name]) => name);
}

function Shown({ entity }: { entity: Entity }) {
    const contents = contentsOf(entity);
    return (
        <article class="entity">
            <Head entity={entity} />
            <div class="columns">
                <div>
                    <Properties entity={entity} />
                    <Classifications entity={entity} />
                    {contents.map((property) => (
                        <Contents key={property} entity={entity} property={property} />
                    ))}
                </div>
                <Neighbours id={entity.id} />
            </div>
            <History id={entity.id} shown={entity.version} />
        </article>
    );
}

function Head({ entity }: { entity: Entity }) {
    const { id, type, status, version, latestVersion, created, updated, validFrom, position } = entity;
    return (
        <header class="title">
            <p class="type">
                <bdi>{type}</bdi>
                {status !== "active" && (
                    <span class="status">
                        <bdi>{status}</bdi>
                    </span>
                )}
            </p>
            <h1>
                <Id id={id} />
            </h1>
            <p class="facts">
                <span>
                    version <b data-part="version">{version}</b> of {latestVersion}
                </span>
                <span>
                    created {shortInstant(created.instant)} by <bdi>{created.author || "nobody"}</bdi>
                </span>
                <span>
                    updated {shortInstant(updated.instant)} by <bdi>{updated.author || "nobody"}</bdi>, position {position}
                </span>
                <span>true from {shortInstant(validFrom)}</span>
            </p>
            <p class="links">
                <Link to={toLineage(id)}>Lineage</Link>
            </p>
        </header>
    );
}

/** Leads to the last version that was not deleted. */
function Before({ id }: { id: string }) {
    const answer = useAnswer(`last of ${id}`, (signal) =>
        ask<Page<Version>>(`v1/entities/${step(id)}/history`, { query: { limit: 10 }, signal }),
    );
    const last = answer.state === "ready" ? answer.value.items.find((version) => version.status !== "deleted") : undefined;
    if (!last) return null;
    return (
        <p>
            <button type="button" onClick={() => go({ at: "", validAt: "", atPosition: String(last.position) })}>
                Show it before, as known at position {last.position}
            </button>
        </p>
    );
}

/** The entity is not there at this time: the server knows why, and when it is. */
function NotThere({ id, failure }: { id: string; failure: Failure }) {
    const validAt = failure.problem["validAt"];
    const isDeleted = failure.kind === "deleted";
    return (
        <article class="entity">
            <header class="title">
                <h1>
                    <Id id={id} />
                </h1>
            </header>
            <Failed failure={failure} what="the entity" />
            {isDeleted && <Before id={id} />}
            {typeof validAt === "string" && (
                <p>
                    <button type="button" onClick={() => go({ at: "", atPosition: "", validAt })}>
                        Show it as true at {shortInstant(validAt)}
                    </button>
                </p>
            )}
            {(isDeleted || typeof validAt === "string") && <History id={id} shown={0} />}
        </article>
    );
}
