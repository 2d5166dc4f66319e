//! Contents of writers with grants: a digest gives nobody the bytes.

use annals::*;

use crate::support::access::{self, open_rights};
use crate::support::named::{entity, id};

fn limited<T>(repository: &Repository, work: impl FnMut(&mut Transaction) -> Result<T>) -> Result<T> {
    access::limited(repository, &open_rights(), work).map(|(result, _)| result)
}

fn put(repository: &Repository, bytes: &str) -> StoredContent {
    repository.contents().unwrap().put(&mut bytes.as_bytes(), &NewContent::of("text/plain")).unwrap()
}

/// Pages `open` and `hidden`, each with a content of its own.
fn repository() -> Repository {
    let repository = Repository::in_memory();
    let (open, hidden) = (put(&repository, "open"), put(&repository, "hidden"));
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.create_entity(NewEntity::new("page").id("open")?.property("content", open.value()))?;
            t.create_entity(NewEntity::new("page").id("hidden")?.property("content", hidden.value()))?;
            t.classify(&id("hidden"), ClassificationContent::new("secret"))
        })
        .unwrap();
    repository
}

fn content(bytes: &str) -> Value {
    // As a client writes it that knows the digest only.
    let elsewhere = Repository::in_memory();
    put(&elsewhere, bytes).value()
}

/// Each way to name a content.
fn name_in(t: &mut Transaction, number: usize, value: Value) -> Result<()> {
    match number {
        0 => t.create_entity(NewEntity::new("page").property("content", value)).map(drop),
        1 => t.update(&entity("open"), Patch::new().set("content", value)),
        2 => t.update(&entity("open"), Patch::new().set("all", Value::List(vec![value].into()))),
        3 => t.replace(&entity("open"), vec![("content".into(), value)]),
        4 => t.classify(&id("open"), ClassificationContent::new("mark").property("content", value)),
        5 => {
            let new = NewRelationship::new("links", id("open"), id("open"));
            t.create_relationship(new.property("content", value)).map(drop)
        }
        _ => t.tree_below(id("open")).set(&TreePath::parse("/content")?, value),
    }
}

#[test]
fn a_digest_of_hidden_bytes_is_refused_as_one_of_none() {
    for number in 0..7 {
        let told = ["hidden", "absent"].map(|bytes| {
            let value = content(bytes);
            let Value::Content(named) = &value else { panic!("a content") };
            let error = limited(&repository(), |t| name_in(t, number, value.clone())).unwrap_err();
            (error.kind(), error.to_string().replace(&named.sha256.to_string(), "SHA"))
        });
        assert_eq!(told[0], told[1], "{number}");
        assert_eq!(told[0].0, ErrorKind::NotFound, "{number}");
        limited(&repository(), |t| name_in(t, number, content("open"))).unwrap();
    }
}

#[test]
fn bytes_that_a_writer_sends_are_its_own() {
    let repository = repository();
    let sent = put(&repository, "hidden");
    assert!(!sent.is_new());
    let seen = repository.snapshot().seen_by(open_rights().sight()).unwrap();
    assert!(!seen.holds_content(sent.sha256).unwrap());
    limited(&repository, |t| {
        t.allow_content(&sent);
        t.update(&entity("open"), Patch::new().set("content", sent.value()))
    })
    .unwrap();
    let seen = repository.snapshot().seen_by(open_rights().sight()).unwrap();
    assert!(seen.holds_content(sent.sha256).unwrap());
}

#[test]
fn contents_of_visible_versions_return() {
    let repository = repository();
    limited(&repository, |t| t.update(&entity("open"), Patch::new().unset("content"))).unwrap();
    // No version of now holds it.
    let again = limited(&repository, |t| name_in(t, 1, content("open")));
    assert_eq!(again.unwrap_err().kind(), ErrorKind::NotFound);
    limited(&repository, |t| t.undo(&entity("open"))).unwrap();
    let snapshot = repository.snapshot();
    assert!(snapshot.entity(&id("open")).unwrap().unwrap().property("content").is_some());
}

/// The secret version of a page has a content that the present one does not have.
#[test]
fn contents_of_hidden_versions_stay_hidden() {
    let repository = repository();
    let clean = action::Replace {
        instance: entity("hidden"),
        properties: Vec::new(),
        classifications: Some(Vec::new()),
        provenance: None,
    };
    repository.transact(|t| t.push_action(clean.clone())).unwrap();
    assert!(limited(&repository, |t| t.undo(&entity("hidden"))).is_err());
    let named = limited(&repository, |t| name_in(t, 1, content("hidden")));
    assert_eq!(named.unwrap_err().kind(), ErrorKind::NotFound);
}
