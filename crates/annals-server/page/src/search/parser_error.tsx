// An error of the parser, under the character that it is about.
import type { Failure } from "../api/client.ts";

/** The search with a mark at the character, and what the parser expected there. */
export function ParserError({ failure, q }: { failure: Failure; q: string }) {
    const [first = failure.text] = failure.text.split("\n");
    const found = /^search, character (\d+): (.*)$/s.exec(first);
    const characters = [...q];
    const at = found ? Number(found[1]) - 1 : -1;
    const words = found ? (found[2] as string) : first;
    return (
        <div class="state parser" data-state="failed" role="alert">
            {at >= 0 && (
                <pre class="searched">
                    {characters.slice(0, at).join("")}
                    <mark>{characters[at] ?? " "}</mark>
                    {characters.slice(at + 1).join("")}
                    {"\n"}
                    {/* A line below in the same letters: the mark stands under its character, however wide that is. */}
                    <span class="before" aria-hidden="true">
                        {characters.slice(0, at).join("")}
                    </span>
                    <span aria-hidden="true">^</span>
                </pre>
            )}
            <p>
                {at >= 0 && <>At character {at + 1}: </>}
                <bdi>{words}</bdi>
            </p>
        </div>
    );
}
