//! Conditions on the list of actions as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::act::{Codes, VersionStep};
use super::{Action, Bag, Key};
use crate::graph::Graph;
use crate::graph::instance::headers::{RowHeader, Shape};
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, InstanceId, Provenance, TypeKind};

/// Units: codes. All codes are below this.
const CODES_MAX: u32 = 1000;

#[test]
fn a_code_stands_for_one_action() {
    let with_code = |code: u32| Action::CODES.iter().filter(move |codes| codes.kind(code).is_some()).count();
    let used: Vec<u32> = (0..CODES_MAX).filter(|code| with_code(*code) > 0).collect();
    assert!(used.iter().all(|code| with_code(*code) == 1), "{used:?}");
    let counts = Action::CODES.iter().map(|codes| if matches!(codes, Codes::Both(..)) { 2 } else { 1 });
    assert_eq!(used.len(), counts.sum::<usize>());
}

#[test]
fn actions_with_one_verb_are_for_different_kinds_and_stand_side_by_side() {
    let mut verbs: Vec<&str> = Action::FORMS.iter().map(|form| form.verb).collect();
    verbs.dedup();
    assert_eq!(verbs.iter().collect::<BTreeSet<_>>().len(), verbs.len(), "{verbs:?}");
    let known: Vec<(&str, TypeKind)> =
        Action::FORMS.iter().flat_map(|form| form.kinds.iter().map(|kind| (form.verb, *kind))).collect();
    assert_eq!(known.iter().collect::<BTreeSet<_>>().len(), known.len(), "{known:?}");
}

#[test]
fn fields_of_an_action_have_keys_and_names_of_their_own_and_the_id_comes_first() {
    for form in Action::FORMS {
        let names: BTreeSet<&str> = form.fields.iter().map(|field| field.name).collect();
        assert_eq!(names.len(), form.fields.len(), "{form:?}");
        assert_eq!(!form.kinds.is_empty(), form.fields.first().is_some_and(|field| field.key == Key::Id));
    }
}

#[test]
fn an_action_lacks_each_of_its_required_fields() {
    for form in Action::FORMS.iter().filter(|form| form.fields.iter().any(|field| field.is_required)) {
        let bag = Bag { kind: form.kinds.first().copied(), ..Bag::default() };
        assert_eq!(Action::from_bag(form, bag), None, "{form:?}");
    }
}

/// Undo compares versions, not records: one step may have several differences.
#[test]
fn a_step_is_taken_back_by_id_then_type_then_home_then_status_then_provenance() {
    let mut graph = Graph::with_spill(None);
    let symbols = ["t", "u"].map(|name| graph.names.intern(&Arc::from(name)));
    let shape =
        |id: &str, type_name: Symbol| Shape { id: Id::new(id).unwrap(), type_name, ends: [u32::MAX; 2] };
    let instance = InstanceId::Entity(Id::new("b").unwrap());
    let theirs = |home: Option<&str>| {
        Some(Arc::new(Provenance {
            home: home.map(Arc::from),
            license: Some("x".into()),
            ..Provenance::default()
        }))
    };
    let before = RowHeader { status: Some("draft".into()), ..RowHeader::default() };
    let verb = |was: &Shape, before: &RowHeader, now: &RowHeader| {
        let is = shape("b", symbols[1]);
        let step = VersionStep { graph: &graph, instance: &instance, was: was.clone(), is, before, now };
        Action::undo(&step).map(|action| action.verb())
    };
    let now = RowHeader { provenance: theirs(Some("h")), ..RowHeader::default() };
    assert_eq!(verb(&shape("a", symbols[0]), &before, &now), Some("reidentify"));
    assert_eq!(verb(&shape("b", symbols[0]), &before, &now), Some("retype"));
    let was = shape("b", symbols[1]);
    assert_eq!(verb(&was, &before, &now), Some("rehome"));
    let now = RowHeader { provenance: theirs(None), ..RowHeader::default() };
    assert_eq!(verb(&was, &before, &now), Some("set-status"));
    assert_eq!(verb(&was, &RowHeader::default(), &now), Some("set-provenance"));
    assert_eq!(verb(&was, &now, &now), None);
}
