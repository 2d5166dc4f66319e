// The stored bytes of a property, shown as a picture or as plain text, never as a page: no byte of it runs.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { addressOf, send, step, token } from "../api/client.ts";
import type { Entity, Json } from "../api/forms.ts";
import { address } from "../state/address.ts";
import { parametersOf, timeOf } from "../state/time.ts";
import { bytesInWords, textOf } from "../words/values.ts";

/** Pictures that a browser draws without running anything; an SVG in an image runs no scripts and loads nothing. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml"];
const PICTURE_BYTES_MAX = 16 << 20;
/** A text is shown up to here. Units: bytes. */
const TEXT_BYTES_MAX = 64 << 10;
const TEXTS = /^(text\/|application\/(json|xml|yaml|x-yaml|x-ndjson|javascript|sql|toml)\b|application\/[\w.-]+\+(json|xml)\b)/;

/** What the picture or the text is made of. */
type Shown = { picture: string } | { text: string; isCut: boolean } | null;

/** The content of one property. */
export function Contents({ entity, property }: { entity: Entity; property: string }) {
    const value = (entity.properties as Record<string, Json>)[property] as Record<string, Json>;
    const mediaType = String(value["mediaType"] ?? "application/octet-stream");
    const size = Number(value["size"] ?? 0);
    const query = { ...parametersOf(timeOf(address.value)), property };
    const path = `v1/content/${step(entity.id)}`;
    const answer = useAnswer<Shown>(`content ${String(value["$content"])} ${mediaType}`, (signal) =>
        load(path, { query, signal }, mediaType.toLowerCase().split(";")[0] as string, size),
    );
    const shown = answer.state === "ready" ? answer.value : null;
    useEffect(() => () => void (shown && "picture" in shown && URL.revokeObjectURL(shown.picture)), [shown]);
    return (
        <section class="contents">
            <h2>
                Content <bdi>{property}</bdi>{" "}
                <small>
                    <bdi>{textOf(value)}</bdi> {value["name"] !== undefined && <bdi>{String(value["name"])}</bdi>}
                </small>
            </h2>
            {answer.state === "loading" && <p class="state">Loads …</p>}
            {answer.state === "failure" && <p class="state failed">{answer.failure.text}</p>}
            {shown && "picture" in shown && <img src={shown.picture} alt={`Content of ${property}`} />}
            {shown && "text" in shown && (
                <pre tabIndex={0}>
                    <bdi>{shown.text}</bdi>
                    {shown.isCut && <span class="hint">{`\n… ${bytesInWords(size)} in all`}</span>}
                </pre>
            )}
            {answer.state === "ready" && shown === null && <p class="none">It is not shown here: no picture and no text.</p>}
            <Download path={addressOf(path, query)} name={String(value["name"] ?? property)} />
        </section>
    );
}

/** A link, or with a token a button: a link of a browser carries no token. */
function Download({ path, name }: { path: string; name: string }) {
    const [failed, fail] = useState("");
    if (!token.value) {
        return (
            <p>
                <a href={path} download={name}>
                    Download
                </a>
            </p>
        );
    }
    const load = async () => {
        try {
            const link = document.createElement("a");
            link.href = URL.createObjectURL(await (await send(path)).blob());
            link.download = name;
            link.click();
            setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
        } catch (error) {
            fail(error instanceof Error ? error.message : String(error));
        }
    };
    return (
        <p>
            <button type="button" onClick={() => void load()}>
                Download
            </button>{" "}
            {failed}
        </p>
    );
}

async function load(path: string, asking: Parameters<typeof send>[1], mediaType: string, size: number): Promise<Shown> {
    if (PICTURES.includes(mediaType) && size <= PICTURE_BYTES_MAX) {
        const bytes = await (await send(path, asking)).arrayBuffer();
        // The type of the list, and not the one of the answer.
        return { picture: URL.createObjectURL(new Blob([bytes], { type: mediaType })) };
    }
    if (!TEXTS.test(mediaType)) return null;
    // The server refuses a part of nothing.
    if (size === 0) return { text: "", isCut: false };
    const headers = { Range: `bytes=0-${TEXT_BYTES_MAX - 1}` };
    const bytes = await (await send(path, { ...asking, headers })).arrayBuffer();
    return { text: new TextDecoder().decode(bytes), isCut: size > TEXT_BYTES_MAX };
}
