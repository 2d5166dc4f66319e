// The time of all views: now, as known at a position or an instant, and as true at an instant.
import type { Address } from "./address.ts";

/** A time in the names of the API; empty members are not asked for. */
export interface Time {
    atPosition: string;
    at: string;
    validAt: string;
}

/** The present. */
export const NOW: Time = { atPosition: "", at: "", validAt: "" };

/** The time of an address. */
export function timeOf({ atPosition, at, validAt }: Address): Time {
    return { atPosition, at, validAt };
}

/** True for the present. */
export function isNow(time: Time): boolean {
    return !time.atPosition && !time.at && !time.validAt;
}

/** The parameters of a question as of a time. */
export function parametersOf(time: Time): Record<string, string> {
    return Object.fromEntries(Object.entries(time).filter(([, value]) => value));
}

/** The members of a question in JSON as of a time: there a position is a number. */
export function membersOf(time: Time): Record<string, string | number> {
    const { atPosition, ...rest } = parametersOf(time);
    return atPosition === undefined ? rest : { ...rest, atPosition: Number(atPosition) || 0 };
}

/** Reads what a user types for "as known at": digits are a position, unless they are a year. */
export function knownAt(text: string): Pick<Time, "atPosition" | "at"> {
    const typed = text.trim();
    const isPosition = /^(position )?\d+$/.test(typed) && !/^(19|20)\d\d$/.test(typed);
    return isPosition ? { atPosition: typed.replace("position ", ""), at: "" } : { atPosition: "", at: typed };
}

/** Reads the time that is compared with: `now`, a position, an instant, or parts such as `validAt:2025-03-01`. */
export function parseTime(text: string): Time {
    const time = { ...NOW };
    for (const part of text.split(",")) {
        const typed = part.trim();
        const named = /^(atPosition|at|validAt):(.*)$/.exec(typed);
        if (named) time[named[1] as keyof Time] = (named[2] as string).trim();
        else if (typed && typed !== "now") Object.assign(time, knownAt(typed));
    }
    return time;
}

/** Writes a time so that `parseTime` reads it. */
export function formatTime(time: Time): string {
    if (isNow(time)) return "now";
    return Object.entries(time)
        .filter(([, value]) => value)
        .map(([name, value]) => (name === "atPosition" && !/^(19|20)\d\d$/.test(value) ? value : `${name}:${value}`))
        .join(",");
}

/** A time in words. */
export function timeInWords(time: Time): string {
    if (isNow(time)) return "now";
    const parts = [];
    if (time.atPosition) parts.push(`position ${time.atPosition}`);
    if (time.at) parts.push(`what was known at ${time.at}`);
    if (time.validAt) parts.push(`what was true at ${time.validAt}`);
    return parts.join(", ");
}
