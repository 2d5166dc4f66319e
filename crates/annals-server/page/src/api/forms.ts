// The forms of the API that the page reads, from the description of the server.
import type { components } from "./annals";

type Forms = components["schemas"];

export type Entity = Forms["Entity"];
export type Relationship = Forms["Relationship"];
export type LoggedRecord = Forms["LoggedRecord"];
export type Stats = Forms["Stats"];
export type Version = Forms["Version"];
export type Completions = Forms["Completions"];
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A page of a list. */
export interface Page<T> {
    items: T[];
    next: string | null;
    count?: number;
}

/** The parts of a change in the log that the page looks at. */
export interface Change {
    action: string;
    kind?: string;
    id?: string;
    type?: string;
    from?: string;
    to?: string;
}
