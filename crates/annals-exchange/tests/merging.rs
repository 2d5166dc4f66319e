//! Merges while other clients write, merges that bring instances back, and imports of histories.

use std::fmt::Display;
use std::sync::{Arc, Mutex};

use annals::*;
use annals_exchange::export::export_history;
use annals_exchange::import::{
    JsonlOptions, LineBounds, LoadOptions, Merge, MergeOptions, Report, Run, Summary, load_jsonl,
};
use annals_exchange::{Outcome, Progress, RefusedLine};

/// Does something at the first refused line, and keeps the reasons of all refused lines.
struct AtRefusal<F>(Mutex<(Option<F>, Vec<String>)>);

impl<F: FnOnce() + Send> Progress for AtRefusal<F> {
    fn note_refused(&self, line: &RefusedLine<'_>) {
        let mut own = self.0.lock().unwrap();
        own.1.push(line.reason.to_string());
        if let Some(then) = own.0.take() {
            then();
        }
    }
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

/// Merges lines; another client does `then` at the first refused line. Returns the reasons of refusals, too.
fn merge_while(
    repository: &Repository,
    lines: &[&str],
    options: MergeOptions,
    then: impl FnOnce() + Send + 'static,
) -> (Summary, Vec<String>) {
    let progress = Arc::new(AtRefusal(Mutex::new((Some(then), Vec::new()))));
    let mut report = Report::new(progress.clone(), false);
    report.merge = Some(Merge::new(options));
    load(repository, lines.join("\n").as_bytes(), &mut report).unwrap();
    let reasons = progress.0.lock().unwrap().1.clone();
    (report.summary, reasons)
}

fn load(repository: &Repository, text: &[u8], report: &mut Report) -> Outcome {
    let load = LoadOptions {
        batch_changes: 1_000,
        batch_bytes_max: 1 << 20,
        author: String::new(),
        message: String::new(),
        check: None,
    };
    let file = JsonlOptions {
        load: &load,
        name: "lines",
        is_resuming: false,
        run: Run::begin(repository),
        set_aside: Default::default(),
        valid_from: None,
        line_bounds: LineBounds::default(),
        plain: None,
        is_shared: false,
        is_resumable: true,
    };
    load_jsonl(repository, report, text, file, &mut || {})?;
    report.finish();
    Ok(())
}

fn merge(repository: &Repository, lines: &[&str], options: MergeOptions) -> (Summary, Vec<String>) {
    merge_while(repository, lines, options, || {})
}

fn texts(properties: impl IntoIterator<Item = (impl Display, Value)>) -> Vec<String> {
    properties.into_iter().map(|(name, value)| format!("{name} {value:?}")).collect()
}

/// A line that states classifications replaced all properties by those of its comparison, which was made before the line
/// was committed: a change of another client in between was lost.
#[test]
fn a_merge_keeps_what_another_client_changes_after_the_comparison() {
    let stating =
        r#"{"entity": {"id": "a", "type": "t", "properties": {"n": 2}, "classifications": [{"name": "c"}]}}"#;
    let plain = r#"{"entity": {"id": "a", "type": "t", "properties": {"n": 2}}}"#;
    for line in [stating, plain] {
        let repository = Arc::new(Repository::in_memory());
        repository
            .transact(|t| {
                t.create_entity(NewEntity::new("t").id("a")?.property("n", 1).property("theirs", "old"))
            })
            .unwrap();
        let other = Arc::clone(&repository);
        let (summary, reasons) =
            merge_while(&repository, &[line, "no line"], MergeOptions::default(), move || {
                let a = InstanceId::Entity(id("a"));
                let patch = Patch::new().set("theirs", "new").set("more", true);
                other.transact(|t| t.update(&a, patch.clone())).unwrap();
            });
        assert_eq!((summary.updated_count, summary.refused_count), (1, 1), "{reasons:?}");
        let snapshot = repository.snapshot();
        let found = snapshot.entity(&id("a")).unwrap().unwrap();
        let mut properties = texts(found.properties());
        properties.sort();
        assert_eq!(properties, ["more Boolean(true)", "n Integer(2)", "theirs String(\"new\")"], "{line}");
        assert_eq!(found.classifications().count(), usize::from(line == stating));
    }
}

/// The same, if the other client makes the line true, deletes its instance, or creates it.
#[test]
fn a_line_is_compared_with_what_its_transaction_sees() {
    let line = r#"{"entity": {"id": "a", "type": "t", "properties": {"n": 2}}}"#;
    type Step = fn(&mut Transaction) -> Result<()>;
    let create: Step = |t| t.create_entity(NewEntity::new("t").id("a")?.property("n", 1)).map(drop);
    let equal: Step = |t| t.update(&InstanceId::Entity(Id::new("a")?), Patch::new().set("n", 2));
    let delete: Step = |t| t.delete(&InstanceId::Entity(Id::new("a")?));
    let nothing: Step = |_| Ok(());
    for (before, between, counts) in [
        (create, equal, (0, 0, 1)),
        (create, delete, (0, 1, 0)),
        (nothing, create, (0, 1, 0)),
        (nothing, nothing, (1, 0, 0)),
    ] {
        let repository = Arc::new(Repository::in_memory());
        repository.transact(before).unwrap();
        let other = Arc::clone(&repository);
        let (summary, _) = merge_while(&repository, &[line, "no line"], MergeOptions::default(), move || {
            other.transact(between).unwrap();
        });
        let found = (summary.created_count, summary.updated_count, summary.unchanged_count);
        assert_eq!((found, summary.refused_count), (counts, 1));
        assert_eq!(summary.records_count, counts.0 + counts.1);
        let snapshot = repository.snapshot();
        assert_eq!(snapshot.entity(&id("a")).unwrap().unwrap().property("n"), Some(2.into()));
    }
}

/// The key of a line was noted as it is written, and not as its type declares it.
#[test]
fn equal_keys_written_in_two_ways_make_one_relationship() {
    let repository = Repository::in_memory();
    let share = AttributeDefinition::new("share", ValueType::Float);
    let share = AttributeDefinition { default: Some(1.0.into()), ..share };
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("r").attribute(share.clone()))?;
            t.create_entity(NewEntity::new("t").id("a")?)?;
            t.create_entity(NewEntity::new("t").id("b")?)
        })
        .unwrap();
    let lines = [
        r#"{"relationship": {"type": "r", "from": "a", "to": "b", "properties": {"share": 1}}}"#,
        r#"{"relationship": {"type": "r", "from": "a", "to": "b", "properties": {"share": 1.0, "n": 2}}}"#,
        r#"{"relationship": {"type": "r", "from": "a", "to": "b", "properties": {"n": 3}}}"#,
        r#"{"relationship": {"type": "r", "from": "a", "to": "b", "properties": {"share": 2, "n": 4}}}"#,
    ];
    let options = || MergeOptions { keys: vec!["share".to_owned()], ..MergeOptions::default() };
    let (summary, reasons) = merge(&repository, &lines, options());
    assert_eq!((summary.created_count, summary.updated_count), (2, 2), "{reasons:?}");
    assert_eq!(repository.snapshot().find_relationships(&Find::all()).unwrap().items.len(), 2);
}

#[test]
fn a_line_of_another_type_than_its_deleted_instance_says_so() {
    let repository = Repository::in_memory();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("a")?)).unwrap();
    let line = r#"{"entity": {"id": "a", "type": "other"}}"#;
    let (_, live) = merge(&repository, &[line], MergeOptions::default());
    assert_eq!(live, ["entity a: expected type other, found type t; change its type first"]);
    repository.transact(|t| t.delete(&InstanceId::Entity(Id::new("a")?))).unwrap();
    let (_, deleted) = merge(&repository, &[line], MergeOptions::default());
    let text = "entity a: expected type other, found a deleted instance of type t; restore it and change its type, or \
                purge it, or give the line another id";
    assert_eq!(deleted, [text]);
}

/// The advice was to put entities before the relationships between them, which they are.
#[test]
fn a_deleted_relationship_without_a_former_end_says_what_to_do() {
    let repository = Repository::in_memory();
    repository
        .transact(|t| {
            for name in ["a", "b", "c"] {
                t.create_entity(NewEntity::new("t").id(name)?)?;
            }
            t.create_relationship(NewRelationship::new("k", id("a"), id("b")).id("r")?)?;
            t.delete(&InstanceId::Entity(id("b")))
        })
        .unwrap();
    let line = r#"{"relationship": {"id": "r", "type": "k", "from": "a", "to": "c"}}"#;
    let (_, reasons) = merge(&repository, &[line], MergeOptions::default());
    let text = "relationship end b: the entity is deleted; restore it first (instance: relationship r); the relationship is \
                deleted, and returns between its former ends before it gets those of the line: import a line for the former end, too, or \
                purge the relationship, or give the line another id";
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].ends_with(text), "{reasons:?}");
    let former = r#"{"entity": {"id": "b", "type": "t"}}"#;
    let (summary, reasons) = merge(&repository, &[line, former], MergeOptions::default());
    assert_eq!(summary.refused_count, 0, "{reasons:?}");
    let snapshot = repository.snapshot();
    let found = snapshot.relationship(&id("r")).unwrap().unwrap();
    assert_eq!((found.from(), found.to()), (&id("a"), &id("c")));
    // The ends are there, but not so early: nothing says that the relationship was deleted.
    let early = r#"{"relationship": {"id": "r3", "type": "k", "from": "a", "to": "c", "validFrom": "2001-01-01T00:00:00Z"}}"#;
    let options = MergeOptions { has_valid_times: true, ..MergeOptions::default() };
    let (_, reasons) = merge(&repository, &[early], options);
    assert!(reasons.len() == 1 && !reasons[0].contains("the relationship is deleted"), "{reasons:?}");
    let missing = r#"{"relationship": {"id": "r2", "type": "k", "from": "a", "to": "d"}}"#;
    let (_, reasons) = merge(&repository, &[missing], MergeOptions::default());
    assert!(reasons[0].ends_with("; put entities before the relationships between them"), "{reasons:?}");
}

/// The merge asked what the container held before the record of its deletion. A child that this record itself created
/// was not there yet, so it came back with the container, although no line names it.
#[test]
fn a_container_returns_without_a_child_of_the_transaction_that_deleted_it() {
    let repository = Repository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.create_entity(NewEntity::new("t").id("shelf")?)
        })
        .unwrap();
    repository
        .transact(|t| {
            t.create_entity(NewEntity::new("t").id("book")?)?;
            let contains = NewRelationship::new("contains", id("shelf"), id("book"));
            t.create_relationship(contains.property("name", "book"))?;
            t.delete(&InstanceId::Entity(id("shelf")))
        })
        .unwrap();
    let line = r#"{"entity": {"id": "shelf", "type": "t"}}"#;
    let (_, reasons) = merge(&repository, &[line], MergeOptions::default());
    assert_eq!(reasons, [""; 0]);
    let snapshot = repository.snapshot();
    assert!(snapshot.entity(&id("shelf")).unwrap().is_some());
    assert!(snapshot.entity(&id("book")).unwrap().is_none());
}

/// A child that a rule required was purged later, and a compaction removed it, so the export does not have it. The
/// import ended at the record that created its parent.
#[test]
fn a_history_is_imported_although_what_a_rule_required_was_purged_since() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path().join("repository")).unwrap();
    let holder = TypeDefinition::entity("holder");
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.define_type(holder.clone().requiring_child("a"))
        })
        .unwrap();
    let path = TreePath::parse("/a").unwrap();
    repository
        .transact(|t| {
            t.create_entity(NewEntity::new("holder").id("h")?)?;
            t.tree_below(id("h")).create(&path, &Item { id: Some(id("child")), ..Item::new() })
        })
        .unwrap();
    repository
        .transact(|t| {
            t.define_type(holder.clone())?;
            t.purge(&InstanceId::Entity(id("child")))
        })
        .unwrap();
    repository.compact().unwrap();
    let (mut text, position) = (Vec::new(), repository.snapshot().position());
    export_history(&repository, position, &mut text, &()).unwrap();
    let copy = Repository::in_memory();
    let mut report = Report::new(Arc::new(()), false);
    load(&copy, &text, &mut report).unwrap();
    assert_eq!(copy.snapshot().position(), position);
    // The rules hold again for what comes after it.
    copy.transact(|t| t.define_type(holder.clone().requiring_child("a"))).unwrap_err();
}

/// A container and its child were deleted together, and linked by another relationship, too. Then what contained the child was
/// purged, so the deletion of the container in the export did not reach it. Later lines that bring it back were refused.
#[test]
fn a_deletion_of_an_export_names_the_child_whose_containment_was_purged_since() {
    let repository = Repository::in_memory();
    let entity = |name: &str| InstanceId::Entity(id(name));
    let relationship = |name: &str| InstanceId::Relationship(id(name));
    let link = |kind: &str, from: &str, to: &str, name: &str| {
        NewRelationship::new(kind, id(from), id(to)).id(name).unwrap()
    };
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.create_entity(NewEntity::new("page").id("container")?)?;
            t.create_entity(NewEntity::new("page").id("child")?)?;
            t.create_relationship(link("contains", "container", "child", "contains").property("name", "a"))?;
            t.create_relationship(link("cites", "child", "container", "cites"))
        })
        .unwrap();
    repository.transact(|t| t.delete(&entity("container"))).unwrap();
    repository
        .transact(|t| {
            // As a take-back does: the child first.
            t.restore_alone(&id("child"))?;
            t.restore_alone(&id("container"))?;
            t.restore(&relationship("cites"))?;
            t.restore(&relationship("contains"))
        })
        .unwrap();
    repository.transact(|t| t.purge(&relationship("contains"))).unwrap();
    let (mut text, position) = (Vec::new(), repository.snapshot().position());
    export_history(&repository, position, &mut text, &()).unwrap();
    let copy = Repository::in_memory();
    load(&copy, &text, &mut Report::new(Arc::new(()), false)).unwrap();
    assert_eq!(copy.snapshot().position(), position);
    assert!(copy.snapshot().entity(&id("child")).unwrap().is_some());
    assert!(copy.snapshot().relationship(&id("cites")).unwrap().is_some());
}
