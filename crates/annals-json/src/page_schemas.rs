//! Pages and what stands in them, of reads of the graph and of its past, as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::instance_schemas::{entity_example, relationship_example, version_example};
use super::schema::{flag, joined, list, number, object, page_of, partial, reference, text};

/// The schemas of this file.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let neighbor =
        object(json!({ "relationship": reference("Relationship"), "entity": reference("Entity") }));
    let reached_example = json!({ "distance": 1, "entity": entity_example() });
    let shared_example = json!({ "distances": [1, 1], "entity": entity_example() });
    let change_example = json!({ "change": "appeared", "kind": "entity", "id": "bash" });
    let instance = json!({ "oneOf": [reference("Entity"), reference("Relationship")] });
    let neighbor_example = json!({ "relationship": relationship_example(), "entity": entity_example() });
    let reached = object(json!({ "distance": number(), "entity": reference("Entity") }));
    let step = object(json!({
        "direction": { "type": "string", "enum": ["out", "in"] },
        "relationship": reference("Relationship"),
        "entity": reference("Entity"),
    }));
    let path = object(json!({
        "found": flag(),
        "length": { "type": "number", "minimum": 0 },
        "start": { "oneOf": [reference("Entity"), { "type": "null" }] },
        "steps": list(reference("PathStep")),
    }));
    let found_path = object(json!({
        "length": { "type": "number", "minimum": 0 },
        "start": reference("Entity"),
        "steps": list(reference("PathStep")),
    }));
    let next = json!({ "type": ["string", "null"] });
    let subgraph = object(json!({
        "entities": list(reference("Reached")),
        "relationships": list(reference("Relationship")),
        "entitiesCount": number(),
        "relationshipsCount": number(),
        "next": next,
    }));
    let subgraph_example = json!({
        "entities": [{ "distance": 0, "entity": entity_example() }],
        "relationships": [relationship_example()],
        "entitiesCount": 1,
        "relationshipsCount": 1,
        "next": null,
    });
    let distances = json!({ "type": "array", "items": number(), "minItems": 2, "maxItems": 2 });
    let shared = object(json!({ "distances": distances, "entity": reference("Entity") }));
    // `count` is there if it was asked for.
    let may_count = |items: Json| {
        partial(&["items", "next"], json!({ "items": list(items), "next": next, "count": number() }))
    };
    let step_example = joined(neighbor_example.clone(), json!({ "direction": "out" }));
    let found_example = json!({ "length": 1.0, "start": entity_example(), "steps": [step_example.clone()] });
    let group = object(json!({
        "value": { "oneOf": [reference("Value"), { "type": "null" }] },
        "count": number(),
    }));
    let groups = object(json!({
        "groups": list(reference("Group")),
        "count": number(),
        "rest": object(json!({ "groups": number(), "count": number() })),
    }));
    let groups_example = json!({
        "groups": [{ "value": "finance", "count": 3 }, { "value": null, "count": 1 }],
        "count": 4,
        "rest": { "groups": 0, "count": 0 },
    });
    let page = |item: Json| json!({ "items": [item], "next": "0a1b" });
    let counted = |item: Json| json!({ "items": [item], "next": "42-100", "count": 117 });
    let change = partial(
        &["change", "kind", "id"],
        json!({
            "change": { "type": "string", "enum": ["appeared", "disappeared", "changed"] },
            "kind": { "type": "string", "enum": ["entity", "relationship"] },
            "id": text(),
            "difference": reference("Difference"),
        }),
    );
    vec![
        ("EntityPage", page_of(reference("Entity"), false), page(entity_example())),
        ("RelationshipPage", page_of(reference("Relationship"), false), page(relationship_example())),
        ("InstancePage", page_of(instance, false), page(entity_example())),
        ("NeighborPage", page_of(reference("Neighbor"), false), page(neighbor_example.clone())),
        ("Neighbor", neighbor, neighbor_example),
        ("Degree", object(json!({ "degree": number() })), json!({ "degree": 3 })),
        ("ReachPage", page_of(reference("Reached"), true), counted(reached_example.clone())),
        ("Groups", groups, groups_example),
        ("Group", group, json!({ "value": "finance", "count": 3 })),
        ("GraphMl", text(), "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"/>\n".into()),
        ("Dot", text(), "digraph annals {\n}\n".into()),
        ("RelatedPage", may_count(reference("Reached")), counted(reached_example.clone())),
        ("Reached", reached, reached_example),
        (
            "Path",
            path,
            json!({ "found": true, "length": 1.0, "start": entity_example(), "steps": [step_example.clone()] }),
        ),
        ("PathStep", step, step_example),
        (
            "PathList",
            object(json!({ "items": list(reference("FoundPath")) })),
            json!({ "items": [found_example.clone()] }),
        ),
        ("FoundPath", found_path, found_example),
        ("SubgraphPage", subgraph, subgraph_example),
        (
            "RelationshipsOfPage",
            may_count(reference("Relationship")),
            json!({ "items": [relationship_example()], "next": "1f0000000700000003", "count": 117 }),
        ),
        ("SharedPage", page_of(reference("Shared"), true), counted(shared_example.clone())),
        ("Shared", shared, shared_example),
        ("VersionPage", page_of(reference("Version"), false), page(version_example())),
        ("ChangePage", page_of(reference("InstanceChange"), true), counted(change_example.clone())),
        ("InstanceChange", change, change_example),
    ]
}
