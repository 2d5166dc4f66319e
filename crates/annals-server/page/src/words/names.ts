// Names as a search writes them.

const KEYWORDS = new Set(
    "where order by limit offset after status deleted proxies only and or not all any none is has classified to null nocase exists missing".split(" "),
);

/** A name as a search writes it: in backticks unless it is a plain word. */
export function quoted(name: string): string {
    const isPlain = /^[\p{L}\p{N}_\-.:+#%][\p{L}\p{N}_\-.:/+#%]*$/u.test(name) && !KEYWORDS.has(name.toLowerCase());
    return isPlain ? name : `\`${name.replace(/[\\`]/g, "\\$&")}\``;
}
