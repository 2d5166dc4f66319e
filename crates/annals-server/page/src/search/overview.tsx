// The overview: how many instances of each type there are at the time of the page.
import type { Counts } from "../api/types.ts";
import { Link } from "../frame/link.tsx";
import { Empty } from "../frame/states.tsx";
import { toSearch } from "../state/address.ts";
import { counted, grouped } from "../words/counts.ts";
import { shortInstant } from "../words/instants.ts";
import { quoted } from "../words/names.ts";

/** The counts; each type of entities and each classification leads to its search. */
export function Overview({ counts }: { counts: Counts }) {
    const { entities, relationships, classifications, position, instant, isWhole } = counts;
    if (entities.total === 0 && isWhole) {
        return (
            <Empty>
                <p>There are no entities at this time.</p>
            </Empty>
        );
    }
    return (
        <>
            <p class="summary" data-part="summary">
                {counted(entities.total, "entity", "entities")}, {counted(relationships.total, "relationship")}
                {position !== null && ` at position ${grouped(position)}`}
                {instant && <>, {shortInstant(instant)}</>}
                {!isWhole && " of declared types, as far as you may see them"}
            </p>
            <div class="overview">
                <ByType title="Entities" counts={entities.byType} total={entities.total} search={quoted} />
                <ByType
                    title="Classifications"
                    counts={classifications.byType}
                    total={classifications.total}
                    search={(name) => `* where classified ${quoted(name)}`}
                />
                <ByType title="Relationships" counts={relationships.byType} total={relationships.total} />
            </div>
        </>
    );
}

function ByType(properties: {
    title: string;
    counts: Record<string, number>;
    total: number;
    search?: (name: string) => string;
}) {
    const { title, counts, total, search } = properties;
    const rows = Object.entries(counts)
        .filter(([, count]) => count > 0)
        .sort(([, one], [, other]) => other - one);
    if (rows.length === 0) return null;
    return (
        <section>
            <h2>
                {title} <small>{grouped(total)}</small>
            </h2>
            <table class="counts">
                <tbody>
                    {rows.map(([name, count]) => (
                        <tr key={name} data-name={name}>
                            <th scope="row">
                                {search ? (
                                    <Link to={toSearch(search(name))}>
                                        <bdi>{name}</bdi>
                                    </Link>
                                ) : (
                                    <bdi>{name}</bdi>
                                )}
                            </th>
                            <td class="number">{grouped(count)}</td>
                            <td class="share" aria-hidden="true">
                                <progress value={count} max={total} />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}
