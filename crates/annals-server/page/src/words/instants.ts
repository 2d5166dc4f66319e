// Instants as people read them: in UTC, to the second.

/** `2026-11-30 06:25:53` of `2026-11-30T06:25:53.160778Z`; any other text stays as it is. */
export function shortInstant(text: string): string {
    const parts = /^(\d{4,}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(text);
    if (!parts) return text;
    return parts[2] === "00:00:00" && /00:00:00(\.0+)?Z$/.test(text) ? (parts[1] as string) : `${parts[1]} ${parts[2]}`;
}
