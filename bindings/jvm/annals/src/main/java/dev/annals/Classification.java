package dev.annals;

import java.util.Map;

/**
 * A name with properties of its own, attached to an entity.
 *
 * @param name the name
 * @param version the number of its version, from 1
 * @param properties the values by name; unmodifiable
 */
public record Classification(String name, int version, Map<String, Object> properties) {}
