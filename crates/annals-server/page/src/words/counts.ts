// Counts with their words.

/** `1 table`, `12,345 tables`. */
export function counted(count: number, one: string, many = `${one}s`): string {
    return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** A count with its thousands apart. */
export function grouped(count: number): string {
    return count.toLocaleString("en");
}
