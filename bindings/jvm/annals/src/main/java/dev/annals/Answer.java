package dev.annals;

import java.util.OptionalLong;

/**
 * An answer to a request of docs/http.md.
 *
 * @param position the position that a read shows; absent if the endpoint states none
 * @param json the body; empty if the answer has none
 */
public record Answer(OptionalLong position, String json) {}
