//! Merges two changes of one instance unit by unit, as version control merges lines.

use std::collections::BTreeSet;

use super::found::Keep;
use crate::graph::Graph;
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Classification, Instance};
use crate::graph::structures::symbols::Symbol;
use crate::model::{Status, TypeKind};

/// Most units that a text names.
const NAMED_MAX: usize = 3;

/// A unit that two sides changed: the records that are taken back, and later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// As it is now: the records did not change it.
    Now,
    /// As before, and it is so again.
    Again,
    /// As before: only the records changed it.
    Before,
    /// In conflict: both changed it.
    Both,
}

impl Unit {
    pub(super) fn of<T: PartialEq>(before: T, after: T, now: T) -> Unit {
        Unit::by(|| before == after, || before == now, || after == now)
    }

    /// By the comparisons of the state before with the one after, of before with now, and of after with now.
    pub(super) fn by(
        is_kept: impl FnOnce() -> bool,
        is_back: impl FnOnce() -> bool,
        is_left: impl FnOnce() -> bool,
    ) -> Unit {
        match () {
            () if is_kept() => Unit::Now,
            () if is_back() => Unit::Again,
            () if is_left() => Unit::Before,
            () => Unit::Both,
        }
    }
}

/// An instance in three states: before the records that are taken back, after them, and now.
pub(super) struct Sides<'i> {
    pub(super) kind: TypeKind,
    pub(super) before: &'i Instance,
    pub(super) after: &'i Instance,
    pub(super) now: &'i Instance,
}

/// The content that an instance gets.
pub(super) struct Merged {
    pub(super) instance: Instance,
    /// The units that both sides changed.
    pub(super) both: Vec<String>,
    /// True if the records changed a unit that is not as before again.
    pub(super) is_changed: bool,
    /// True if the content was taken as one unit.
    pub(super) is_whole: bool,
}

impl Merged {
    /// The content of now, for an instance that is live afterwards.
    fn of(now: &Instance) -> Merged {
        let instance = Instance { status: Status::Active, ..now.clone() };
        Merged { instance, both: Vec::new(), is_changed: false, is_whole: false }
    }

    /// The units that both sides changed, for a text.
    pub(super) fn both_named(&self) -> String {
        let named = self.both.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
        match self.both.len().saturating_sub(NAMED_MAX) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }

    fn take(&mut self, unit: Unit, keep: Option<Keep>, name: impl FnOnce() -> String) -> bool {
        self.is_changed |= matches!(unit, Unit::Before | Unit::Both);
        if unit == Unit::Both {
            self.both.push(name());
        }
        matches!(unit, Unit::Before | Unit::Again) || unit == Unit::Both && keep == Some(Keep::Mine)
    }
}

impl Sides<'_> {
    /// The content before the records, and what only later records changed. Units are each property, each classification,
    /// the provenance, and the ends of a relationship. If a side changed the type, the content is one unit: the properties
    /// depend on it.
    pub(super) fn merged(&self, graph: &Graph, keep: Option<Keep>) -> Merged {
        let Sides { before, after, now, .. } = *self;
        if before.type_name != after.type_name || after.type_name != now.type_name {
            return self.whole(graph, keep);
        }
        let mut merged = Merged::of(now);
        let all = [before, after, now];
        let name_of = |name: Symbol| graph.names.name(name).to_string();
        let names: BTreeSet<Symbol> =
            all.iter().flat_map(|side| side.properties.iter().map(|(name, _)| name)).collect();
        for name in names {
            let [was, became, is] = all.map(|side| side.properties.get(name));
            if merged.take(Unit::of(was, became, is), keep, || name_of(name)) && was != is {
                merged.instance.properties.put(name, was.cloned());
            }
        }
        let names: BTreeSet<Symbol> =
            all.iter().flat_map(|side| side.classifications().iter().map(|known| known.name)).collect();
        let mut classifications: Vec<Classification> = Vec::new();
        for name in names {
            let [was, became, is] = all.map(|side| side.classification(name));
            let unit = Unit::of(was.map(content), became.map(content), is.map(content));
            let is_before = merged.take(unit, keep, || format!("the classification {}", name_of(name)));
            classifications.extend(if is_before { was } else { is }.cloned());
        }
        merged.instance.set_classifications(classifications);
        if merged.take(Unit::of(before.ends, after.ends, now.ends), keep, || "the ends".into()) {
            merged.instance.ends = before.ends;
        }
        let [was, became, is] =
            all.map(|side| graph.headers.get(side.header).provenance.clone().unwrap_or_default());
        if merged.take(Unit::of(was, became, is), keep, || "the provenance".into()) {
            merged.instance.header = before.header;
        }
        let is_mixed = !is_equal(graph, &merged.instance, before) && !is_equal(graph, &merged.instance, now);
        // Two changes that the declared types admit one by one need not fit together.
        match is_mixed && graph.check_content(self.kind, &merged.instance).is_err() {
            true => self.whole(graph, keep),
            false => merged,
        }
    }

    /// The whole content as one unit.
    fn whole(&self, graph: &Graph, keep: Option<Keep>) -> Merged {
        let Sides { before, after, now, .. } = *self;
        let equal = |one: &Instance, other: &Instance| is_equal(graph, one, other);
        let unit = Unit::by(|| equal(before, after), || equal(before, now), || equal(after, now));
        let mut merged = Merged { is_whole: true, ..Merged::of(now) };
        if merged.take(unit, keep, || "its content".into()) {
            merged.instance = Instance { status: Status::Active, ..before.clone() };
        }
        merged
    }
}

/// The parts of a classification that count.
fn content(known: &Classification) -> (HeaderNumber, &Properties) {
    (known.header, &known.properties)
}

/// True if both have the same type, ends, properties, classifications and provenance.
pub(super) fn is_equal(graph: &Graph, one: &Instance, other: &Instance) -> bool {
    let provenance = |side: &Instance| graph.headers.get(side.header).provenance.clone().unwrap_or_default();
    let classified = |side: &'_ Instance| -> Vec<_> {
        side.classifications()
            .iter()
            .map(|known| (known.name, known.header, known.properties.clone()))
            .collect()
    };
    (one.type_name, one.ends, &one.properties) == (other.type_name, other.ends, &other.properties)
        && classified(one) == classified(other)
        && provenance(one) == provenance(other)
}
