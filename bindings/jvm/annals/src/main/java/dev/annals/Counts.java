package dev.annals;

/**
 * How much a snapshot shows.
 *
 * @param entities the number of live entities
 * @param relationships the number of live relationships
 * @param types the number of declared types
 */
public record Counts(long entities, long relationships, long types) {}
