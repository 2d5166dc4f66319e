//! Completions of the text of a search: names and values that the snapshot has and that its reader may see.

use annals::*;

use crate::support::access::{CANARY, commit, sight};
use crate::support::named::id;

/// Two packages, a declared type with a supertype and an enum, a relationship, and a grant.
fn packages() -> Repository {
    let repository = Repository::in_memory();
    commit(&repository, |t| {
        t.define_type(TypeDefinition::enumeration("level").element(0, "low").element(1, "high"))?;
        t.define_type(
            TypeDefinition::entity("thing").attribute(AttributeDefinition::new("owner", ValueType::String)),
        )?;
        let risk = AttributeDefinition {
            enum_type: Some("level".into()),
            ..AttributeDefinition::new("risk", ValueType::String)
        };
        t.define_type(TypeDefinition::entity("task").supertype("thing").attribute(risk))?;
        let package = |name: &str, section: &str, size: i64| {
            NewEntity::new("package").id(name).unwrap().property("section", section).property("size", size)
        };
        t.create_entity(package("bash", "shells", 12))?;
        t.create_entity(package("dash", "small shells", 5))?;
        t.classify(&id("bash"), ClassificationContent::new("essential"))?;
        t.create_relationship(
            NewRelationship::new("depends on", id("bash"), id("dash")).property("since", "1.0"),
        )?;
        Ok(())
    });
    repository
}

/// Everything that may come where the text has a bar, without the words of the language.
fn completed(snapshot: &Snapshot, kind: TypeKind, text: &str) -> Vec<String> {
    let cursor = text.find('|').unwrap();
    let found = snapshot.complete(kind, &text.replace('|', ""), cursor, 1_000).unwrap();
    found.items.into_iter().filter(|(kind, _)| *kind != CompletionKind::Word).map(|(_, text)| text).collect()
}

#[test]
fn names_and_values_of_the_snapshot_complete_a_search() {
    let repository = packages();
    let snapshot = repository.snapshot();
    let entities = |text: &str| completed(&snapshot, TypeKind::Entity, text);
    assert_eq!(entities("PAC|"), ["package"]);
    assert_eq!(entities("task, |"), ["package", "task", "thing"]);
    assert_eq!(entities("package where s|"), ["section", "size"]);
    assert_eq!(entities("task where |")[..2], ["owner", "risk"]);
    assert_eq!(entities("package where @created|"), ["@createdAt", "@createdBy"]);
    assert_eq!(entities("package where section = |"), ["'shells'", "'small shells'"]);
    assert_eq!(entities("package where section = sm|"), ["'small shells'"]);
    assert_eq!(entities("package where section = 'sm|"), ["'small shells'"]);
    assert_eq!(entities("package where size > 1|"), ["12"]);
    assert_eq!(entities("task where risk = |"), ["'high'", "'low'"]);
    assert_eq!(entities("classified ess|"), ["essential"]);
    assert_eq!(entities("package where has out d|"), ["`depends on`"]);
    assert_eq!(entities("@id = ba|"), ["'bash'"]);
    assert_eq!(entities("* status a|"), ["active"]);
    let relationships = |text: &str| completed(&snapshot, TypeKind::Relationship, text);
    assert_eq!(relationships("|")[0], "`depends on`");
    assert_eq!(relationships("`depends on` where since = |"), ["'1.0'"]);
    // Types that the repository keeps for itself only for those who ask for them.
    repository.candidates().open("draft", "").unwrap();
    let snapshot = repository.snapshot();
    assert!(!completed(&snapshot, TypeKind::Entity, "|").iter().any(|name| name.contains("annals")));
    assert_eq!(completed(&snapshot, TypeKind::Entity, "annals-c|"), ["annals-candidate"]);
}

#[test]
fn there_are_at_most_as_many_as_asked_for_and_words_come_last() {
    let snapshot = packages().snapshot();
    let found = snapshot.complete(TypeKind::Entity, "", 0, 2).unwrap();
    assert_eq!(found.items.iter().map(|(_, text)| &**text).collect::<Vec<_>>(), ["package", "task"]);
    assert!(found.has_more);
    let found = snapshot.complete(TypeKind::Entity, "package where size ", 19, 100).unwrap();
    assert_eq!(found.items.last().unwrap().0, CompletionKind::Word);
    assert!(found.items.iter().any(|(_, text)| text == "between") && !found.has_more);
}

#[test]
fn the_past_completes_with_what_there_was() {
    let repository = packages();
    let before = repository.snapshot().position();
    commit(&repository, |t| t.create_entity(NewEntity::new("pad").property("shape", "round")).map(drop));
    let snapshot = repository.snapshot();
    let then = snapshot.as_of(AsOf { position: Some(before), ..AsOf::default() }).unwrap();
    assert_eq!(completed(&then, TypeKind::Entity, "pa|"), ["package"]);
    assert_eq!(completed(&snapshot, TypeKind::Entity, "pa|"), ["package", "pad"]);
    assert_eq!(completed(&then, TypeKind::Entity, "pad where sh|"), Vec::<String>::new());
}

#[test]
fn what_grants_hide_completes_nothing() {
    let repository = packages();
    commit(&repository, |t| {
        let hidden = NewEntity::new(&format!("type-{CANARY}")).id(&format!("id-{CANARY}")).unwrap();
        t.create_entity(hidden.property(&format!("property-{CANARY}"), CANARY))?;
        let secret = NewEntity::new("vault").id(&format!("vault-{CANARY}")).unwrap();
        t.create_entity(secret.property("section", format!("section-{CANARY}")))?;
        t.classify(&id(&format!("vault-{CANARY}")), ClassificationContent::new(&format!("mark-{CANARY}")))
            .map(drop)
    });
    let all = repository.snapshot();
    let seen = all.seen_by(&sight(&[("package", None)])).unwrap();
    for text in [
        "|",
        "where |",
        "classified |",
        "section = |",
        "section = sec|",
        "@type = |",
        "@id = id|",
        "@id = vault|",
        "is |",
    ] {
        let (all, seen) = [&all, &seen].map(|one| completed(one, TypeKind::Entity, text)).into();
        assert!(all.iter().any(|text| text.contains(CANARY)), "{text}: {all:?}");
        assert!(!seen.iter().any(|text| text.contains(CANARY)), "{text}: {seen:?}");
    }
    assert_eq!(completed(&seen, TypeKind::Entity, "where sec|"), ["section"]);
}
