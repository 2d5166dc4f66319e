//! The subject of conditions: an instance in one version, or one of its classifications.

use crate::graph::Graph;
use crate::graph::instance::classified::Classified;
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::row::Row;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Instant, ProvenanceKind, Status, TypeKind, Value};
use crate::read::snapshot::Snapshot;
use crate::search::Header;

/// An object with properties and a header.
#[derive(Clone, Copy)]
pub(in crate::read) enum Subject<'s> {
    /// In the version in force, without spilled values: indexes answer most conditions without reading its row.
    InForce(TypeKind, u32),
    /// In a version that was read.
    Read(TypeKind, u32, Row<'s>),
    Classification(Classified<'s>),
}

impl<'s> Subject<'s> {
    fn row(self, snapshot: &'s Snapshot) -> Option<Row<'s>> {
        match self {
            Subject::InForce(kind, slot) => snapshot.graph().table(kind).row(slot),
            Subject::Read(_, _, row) => Some(row),
            Subject::Classification(_) => None,
        }
    }

    /// The slot, if it is an instance.
    pub(in crate::read) fn slot(self) -> Option<u32> {
        match self {
            Subject::InForce(_, slot) | Subject::Read(_, slot, _) => Some(slot),
            Subject::Classification(_) => None,
        }
    }

    /// Calls `take` with the value of a property.
    #[inline]
    pub(in crate::read) fn with_property<T>(
        self,
        snapshot: &'s Snapshot,
        name: Symbol,
        take: impl FnOnce(Option<&Value>) -> T,
    ) -> T {
        match self {
            Subject::InForce(kind, slot) => take(snapshot.graph().table(kind).value(slot, name).as_ref()),
            Subject::Read(_, _, row) => take(row.property(name).as_ref()),
            Subject::Classification(known) => take(known.property(name).as_ref()),
        }
    }

    /// The text of a property that is a string, without a copy; `None` also for other values.
    #[inline]
    pub(in crate::read) fn text(self, snapshot: &'s Snapshot, name: Symbol) -> Option<&'s str> {
        match self {
            Subject::Classification(known) => known.text(name),
            instance => instance.row(snapshot)?.text(name),
        }
    }

    /// True if a text of any property matches.
    pub(in crate::read) fn any_text(
        self,
        snapshot: &'s Snapshot,
        matches: &mut dyn FnMut(&str) -> bool,
    ) -> bool {
        match self {
            Subject::Classification(known) => known.any_text(matches),
            instance => instance.row(snapshot).is_some_and(|row| row.any_text(matches)),
        }
    }

    /// The id of the instance in this version.
    pub(in crate::read) fn id(self, snapshot: &'s Snapshot, kind: TypeKind, slot: u32) -> &'s Id {
        let graph = snapshot.graph();
        self.row(snapshot)
            .map_or_else(|| graph.table(kind).id(slot), |row| graph.id_in(kind, slot, row.header()))
    }

    #[inline]
    pub(in crate::read) fn is_of(self, snapshot: &'s Snapshot, types: &[Symbol]) -> bool {
        self.row(snapshot).is_some_and(|row| types.binary_search(&row.type_name()).is_ok())
    }

    /// The value of a header field; `None` if it has none.
    pub(in crate::read) fn header(self, snapshot: &'s Snapshot, header: Header) -> Option<Value> {
        let graph = snapshot.graph();
        let instant = |micros| Some(Value::Timestamp(Instant::from_checked_micros(micros)));
        let author = |author| Some(Value::String(graph.authors.name(author).clone()));
        if let Subject::Classification(known) = self {
            return match header {
                Header::Type => Some(Value::String(graph.names.name(known.name()).clone())),
                Header::Version => Some(Value::Integer(known.version().into())),
                Header::CreatedAt => instant(known.created().micros),
                Header::CreatedBy => author(known.created().author),
                Header::UpdatedAt => instant(known.updated().micros),
                Header::UpdatedBy => author(known.updated().author),
                header => of_provenance(graph, known.header(), header),
            };
        }
        let row = self.row(snapshot)?;
        let end = |side: usize| {
            let slot = row.ends()[side];
            (slot != u32::MAX).then(|| Value::from(snapshot.id_seen(slot).to_string()))
        };
        match header {
            Header::Id => {
                let (Subject::InForce(kind, slot) | Subject::Read(kind, slot, _)) = self else { return None };
                let version = row.header();
                Some(Value::from(graph.id_in(kind, slot, version).to_string()))
            }
            Header::Type => Some(Value::String(graph.names.name(row.type_name()).clone())),
            Header::Status => Some(Value::from(snapshot.name_of_status(row.status(), row.header()))),
            Header::StatusOnDelete => (row.status() == Status::Deleted)
                .then(|| Value::from(snapshot.name_of_status(Status::Active, row.header()))),
            Header::ReidentifiedFrom => {
                let before = graph.headers.get(row.header()).reidentified_from.as_ref()?;
                Some(Value::from(before.to_string()))
            }
            Header::Home
            | Header::Provenance
            | Header::ReplicatedBy
            | Header::License
            | Header::MaintainedBy
            | Header::EffectiveFrom
            | Header::EffectiveTo => of_provenance(graph, row.header(), header),
            Header::Version => Some(Value::Integer(row.version().into())),
            Header::ContentVersion => {
                let version = graph.headers.get(row.header()).content_version(row.version());
                Some(Value::Integer(version.into()))
            }
            Header::CreatedAt => instant(row.created().micros),
            Header::CreatedBy => author(row.created().author),
            Header::UpdatedAt => instant(row.updated().micros),
            Header::UpdatedBy => author(row.updated().author),
            Header::ValidFrom => instant(row.valid_from()),
            Header::From => end(0),
            Header::To => end(1),
        }
    }

    pub(in crate::read) fn is_classified(self, snapshot: &'s Snapshot, name: Symbol) -> bool {
        match self {
            Subject::InForce(TypeKind::Entity, slot) => {
                let entities = &snapshot.graph().entities;
                // The lists have live entities, without proxies.
                entities.lists.classified.present.contains(name, slot)
                    || (!entities.is_live(slot) || entities.lists.proxies.present.contains(slot))
                        && entities
                            .row(slot)
                            .is_some_and(|row| row.classifications().any(|known| known.name() == name))
            }
            Subject::Read(_, _, row) => row.classifications().any(|known| known.name() == name),
            _ => false,
        }
    }

    /// Its classifications.
    pub(in crate::read) fn classifications(
        self,
        snapshot: &'s Snapshot,
    ) -> impl Iterator<Item = Classified<'s>> {
        self.row(snapshot).into_iter().flat_map(Row::classifications)
    }
}

/// The value of a field of the provenance in a header.
fn of_provenance(graph: &Graph, number: HeaderNumber, header: Header) -> Option<Value> {
    let known = graph.headers.get(number).provenance.as_deref();
    if header == Header::Provenance {
        return Some(Value::from(known.map_or(ProvenanceKind::Local, |known| known.kind).name()));
    }
    let known = known?;
    let text = |text: &Option<std::sync::Arc<str>>| text.clone().map(Value::String);
    match header {
        Header::Home => text(&known.home),
        Header::ReplicatedBy => text(&known.replicated_by),
        Header::License => text(&known.license),
        Header::MaintainedBy => {
            let names = known.maintained_by.iter().cloned().map(Value::String);
            Value::set(names.collect::<Vec<_>>()).ok().filter(|_| !known.maintained_by.is_empty())
        }
        Header::EffectiveFrom => known.effective_from.map(Value::Timestamp),
        Header::EffectiveTo => known.effective_to.map(Value::Timestamp),
        _ => None,
    }
}
