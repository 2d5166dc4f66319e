// A lineage that is too large to draw: how many entities of each type there are, and ways to a smaller one.
import { Link } from "../frame/link.tsx";
import { toSearch } from "../state/address.ts";
import { address } from "../state/address.ts";
import { quoted } from "../words/names.ts";
import { counted, grouped } from "../words/counts.ts";
import { type Counted, DRAWN_MAX, EDGES_MAX, type TooMany } from "./load.ts";

/** The counts and the offers. */
export function Large({ tooMany }: { tooMany: TooMany }) {
    const { up, down } = address.value;
    const { total, isDense } = tooMany;
    const share = (counts: Counted[]) => counts.reduce((sum, { count }) => sum + count, 0);
    const isUpLarger = share(tooMany.up) > share(tooMany.down);
    return (
        <div class="state large" data-state="large">
            <h2>
                <span data-part="total">{grouped(total)}</span> entities
            </h2>
            <p>
                {isDense
                    ? `They have more than ${grouped(EDGES_MAX)} relationships, or more values than a browser holds.`
                    : `This page draws up to ${grouped(DRAWN_MAX)}. Nothing was loaded but the counts.`}
            </p>
            <div class="overview">
                <Counts title="Up" counts={tooMany.up} />
                <Counts title="Down" counts={tooMany.down} />
            </div>
            <h3>To see less</h3>
            <ul>
                {up > 0 && (
                    <li>
                        <Link to={{ up: isUpLarger ? Math.max(up - 1, 0) : 0 }}>
                            {isUpLarger ? `${counted(up - 1, "step")} up` : "nothing up"}
                        </Link>
                    </li>
                )}
                {down > 0 && (
                    <li>
                        <Link to={{ down: isUpLarger ? 0 : Math.max(down - 1, 0) }}>
                            {isUpLarger ? "nothing down" : `${counted(down - 1, "step")} down`}
                        </Link>
                    </li>
                )}
                <li>
                    <Link to={{ up: 1, down: 1 }}>1 step up and down</Link>
                </li>
                <li>follow fewer types, above</li>
            </ul>
        </div>
    );
}

function Counts({ title, counts }: { title: string; counts: Counted[] }) {
    if (counts.length === 0) return null;
    return (
        <section>
            <h3>{title}</h3>
            <table class="counts">
                <tbody>
                    {counts.map(({ type, count }) => (
                        <tr key={type} data-name={type}>
                            <th scope="row">
                                <Link to={toSearch(quoted(type))}>
                                    <bdi>{type}</bdi>
                                </Link>
                            </th>
                            <td class="number">{grouped(count)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}
