//! Everything a snapshot lets one observe, as text by key, so that two snapshots can be compared as a whole.

use std::collections::BTreeMap;

use annals::*;

/// Everything that `snapshot` shows: instances, neighbours, versions with their contents, counts and types.
pub fn dump(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    all.insert("position".into(), snapshot.position().to_string());
    all.insert("types".into(), format!("{:?}", snapshot.types()));
    for kind in [TypeKind::Entity, TypeKind::Relationship, TypeKind::Classification] {
        all.insert(format!("counts {kind:?}"), format!("{:?}", snapshot.counts(kind).expect("counts")));
    }
    let counts = (snapshot.entities_count(), snapshot.relationships_count());
    all.insert("totals".into(), format!("{counts:?}"));
    for_each_page(snapshot, |snapshot, find| {
        let page = snapshot.find_entities(find).expect("find entities");
        for entity in &page.items {
            all.insert(format!("entity {}", entity.id()), entity_text(entity));
            let neighbors = neighbors_text(snapshot, entity.id());
            all.insert(format!("neighbors {}", entity.id()), neighbors);
            all.insert(format!("versions {}", entity.id()), versions_text(snapshot, &entity.instance_id()));
        }
        page.next
    });
    for_each_page(snapshot, |snapshot, find| {
        let page = snapshot.find_relationships(find).expect("find relationships");
        for relationship in &page.items {
            all.insert(format!("relationship {}", relationship.id()), relationship_text(relationship));
            let id = relationship.instance_id();
            all.insert(format!("versions {id}"), versions_text(snapshot, &id));
        }
        page.next
    });
    all
}

fn for_each_page(snapshot: &Snapshot, mut take: impl FnMut(&Snapshot, &Find) -> Option<String>) {
    let mut find = Find::all().with_proxies().limit(1_000);
    while let Some(next) = take(snapshot, &find) {
        find = find.after(next);
    }
}

/// The unusual parts of a header; empty for most instances.
macro_rules! header_text {
    ($instance:expr) => {{
        let instance = $instance;
        let mut text = String::new();
        let status = instance.status_on_delete().unwrap_or(instance.status_name());
        if status != "active" {
            text += &format!(" status {status}");
        }
        if instance.home_version() != u64::from(instance.version()) {
            text += &format!(" home version {}", instance.home_version());
        }
        if let Some(before) = instance.reidentified_from() {
            text += &format!(" formerly {before}");
        }
        if let Some(provenance) = instance.provenance() {
            text += &format!(" {provenance:?}");
        }
        text
    }};
}

pub fn entity_text(entity: &Entity<'_>) -> String {
    let classifications: BTreeMap<String, String> = entity
        .classifications()
        .map(|known| {
            let properties: BTreeMap<_, _> = known.properties().collect();
            let text = format!(
                "v{} {:?} {:?} {properties:?}",
                known.version(),
                known.created().to_stamp(),
                known.updated().to_stamp()
            );
            let provenance = known.provenance().map(|known| format!(" {known:?}")).unwrap_or_default();
            (known.name().to_string(), text + &provenance)
        })
        .collect();
    let properties: BTreeMap<_, _> = entity.properties().collect();
    format!(
        "{} v{} {:?} {:?} {:?} valid {} at {} {properties:?} {classifications:?}{}{}",
        entity.type_name(),
        entity.version(),
        entity.status(),
        entity.created().to_stamp(),
        entity.updated().to_stamp(),
        entity.valid_from(),
        entity.position(),
        if entity.is_proxy() { " proxy" } else { "" },
        header_text!(entity),
    )
}

pub fn relationship_text(relationship: &Relationship<'_>) -> String {
    let properties: BTreeMap<_, _> = relationship.properties().collect();
    format!(
        "{} {} -> {} v{} {:?} {:?} {:?} valid {} at {} {properties:?}{}",
        relationship.type_name(),
        relationship.from(),
        relationship.to(),
        relationship.version(),
        relationship.status(),
        relationship.created().to_stamp(),
        relationship.updated().to_stamp(),
        relationship.valid_from(),
        relationship.position(),
        header_text!(relationship),
    )
}

fn neighbors_text(snapshot: &Snapshot, id: &Id) -> String {
    let mut text = String::new();
    for direction in [Direction::Out, Direction::In] {
        let neighbors = snapshot.neighbors(id, direction, None).expect("neighbors");
        let listed: Vec<String> = neighbors
            .map(|neighbor| neighbor.expect("neighbor"))
            .map(|neighbor| format!("{} to {}", neighbor.relationship.id(), neighbor.entity.id()))
            .collect();
        let degree = snapshot.degree(id, direction, None).expect("degree");
        assert_eq!(degree, listed.len(), "degree of {id}");
        text += &format!("{direction:?} {listed:?} ");
    }
    text
}

/// Every version of an instance with its content.
fn versions_text(snapshot: &Snapshot, id: &InstanceId) -> String {
    let mut text = String::new();
    for version in snapshot.versions(id, 0, usize::MAX).expect("versions") {
        let content = match id {
            InstanceId::Entity(id) => snapshot
                .entity_version(id, version.version)
                .expect("read a version")
                .map(|entity| entity_text(&entity)),
            InstanceId::Relationship(id) => snapshot
                .relationship_version(id, version.version)
                .expect("read a version")
                .map(|relationship| relationship_text(&relationship)),
        };
        text += &format!("{version:?} {content:?}\n");
    }
    text
}

/// Compares two dumps and names what differs.
pub fn assert_same(what: &str, left: &BTreeMap<String, String>, right: &BTreeMap<String, String>) {
    for key in left.keys().chain(right.keys()) {
        assert_eq!(left.get(key), right.get(key), "{what}: {key} differs");
    }
}
