// Completes a search from the names that the page knows: types, properties, operators, and values of the hits.

/** The names that a search may use. */
export interface Vocabulary {
    entities: string[];
    relationships: string[];
    classifications: string[];
    /** The declared properties of a type; all of them for an empty name. */
    propertiesOf: (type: string) => string[];
    /** Values that are known of a property. */
    valuesOf: (property: string) => string[];
}

/** What may stand at the cursor. */
export interface Completion {
    /** The part of the text that an offer replaces. Units: UTF-16 code units. */
    from: number;
    to: number;
    offers: { text: string; kind: string }[];
}

/** Most offers at once: more are no help. */
const OFFERS_MAX = 12;

const WORD = /[\p{L}\p{N}_\-.:/+#%~@*]+$/u;
const TOKEN = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|\/(?:\\.|[^/\\])+\/|[\p{L}\p{N}_\-.:/+#%~@*]+|[<>=!^$~]+|[(),]/gu;
const HEADERS = ["@id", "@type", "@status", "@version", "@createdAt", "@createdBy", "@updatedAt", "@updatedBy", "@validFrom", "@text"];
const SIGNS = ["=", "!=", "<", "<=", ">", ">=", "^=", "$=", "~=", "=~", "in (", "between", "is null", "is not null", "has"];
const SIGN = /^([<>=!^$~]+|in|between|has)$/;
const CLAUSES = ["order by", "limit", "deleted with", "status"];

/** What may stand at the cursor of a search. */
export function complete(text: string, cursor: number, known: Vocabulary): Completion {
    const before = text.slice(0, cursor);
    const part = WORD.exec(before)?.[0] ?? "";
    const tokens = before.slice(0, before.length - part.length).match(TOKEN) ?? [];
    const wanted = part.toLowerCase();
    const fits = candidates(tokens, known).filter(
        ({ text: offer }) => offer.toLowerCase().includes(wanted) && offer !== part,
    );
    // What begins with the letters comes first.
    const rank = (offer: string) => (offer.toLowerCase().startsWith(wanted) ? 0 : 1);
    fits.sort((one, other) => rank(one.text) - rank(other.text));
    return { from: cursor - part.length, to: cursor, offers: fits.slice(0, OFFERS_MAX) };
}

type Offers = { text: string; kind: string }[];

const of = (kind: string, names: readonly string[]): Offers => names.map((text) => ({ text, kind }));
const named = (kind: string, names: readonly string[]): Offers => of(kind, names.map(quoted));

/** A name as a search writes it. */
export function quoted(name: string): string {
    const isPlain = /^[\p{L}\p{N}_\-.:/+#%~]+$/u.test(name) && !KEYWORDS.has(name.toLowerCase());
    return isPlain ? name : `\`${name}\``;
}

const KEYWORDS = new Set(
    "where order by limit offset after status deleted proxies only asc desc or and not all any none is classified has in to between nocase exists missing".split(" "),
);

function candidates(tokens: readonly string[], known: Vocabulary): Offers {
    const words = tokens.map((token) => token.toLowerCase());
    const last = words.at(-1);
    const where = words.indexOf("where");
    const types = where < 0 ? [] : tokens.slice(0, where).filter((token) => token !== ",");
    const types1 = types.length === 1 && types[0] !== "*" ? (types[0] as string) : "";
    if (last === undefined || (where < 0 && (last === "," || last === "only"))) {
        return [...named("type", known.entities), ...of("any type", ["*"])];
    }
    const fields = () => [...named("property", known.propertiesOf(types1)), ...of("header", HEADERS)];
    if (last === "by" || (last === "," && words.includes("by"))) return fields();
    if (where < 0) return of("word", ["where", ...CLAUSES]);
    switch (last) {
        case "where":
        case "and":
        case "or":
        case "not":
        case "(":
            if (words.at(-2) === "in" || words.at(-2) === "has") return values(tokens.at(-3), known);
            return [...fields(), ...of("word", ["classified", "has out", "has in", "is", "not"])];
        case "classified":
            return named("classification", known.classifications);
        case "out":
        case "any":
            return named("relationship", known.relationships);
        case "is":
            return [...named("type", known.entities), ...of("word", ["null", "not null"])];
    }
    if (last === "in" && words.at(-2) === "has") return named("relationship", known.relationships);
    if (SIGN.test(last)) return values(tokens.at(-2), known);
    const isField = /^(where|and|or|not|\()$/.test(words.at(-2) ?? "") && !/^[()'"]/.test(last);
    if (isField) return of("operator", SIGNS);
    return of("word", ["and", "or", ...CLAUSES]);
}

function values(property: string | undefined, known: Vocabulary): Offers {
    const name = property?.replaceAll("`", "") ?? "";
    return of(
        "value",
        known.valuesOf(name).map((value) => (/^[\p{L}\p{N}_.-]+$/u.test(value) ? value : `'${value.replace(/[\\']/g, "\\$&")}'`)),
    );
}
