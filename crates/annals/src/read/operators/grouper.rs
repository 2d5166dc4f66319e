//! Groups instances by the values of fields, within bounds.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::aggregate::{Computed, Uncomputed};
use super::filter::subject::Subject;
use crate::graph::structures::symbols::Symbol;
use crate::model::{TypeKind, Value};
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::read::stored::value_bytes;
use crate::search::{Aggregate, Field, Grouping, Header};
use crate::{Error, ErrorKind, Result};

/// Most groups of one answer.
pub const GROUPS_MAX: usize = 10_000;
/// Greatest total size of the values of one answer. Units: bytes, approximate.
const VALUES_BYTES_MAX: usize = 16 << 20;
/// Number of counted instances between two checks for cancellation.
const COUNTED_UNCHECKED: usize = 256;

/// Groups of the instances that a search finds. Made by [`Snapshot::group_entities`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundGroups {
    /// The largest first; equally large ones by their values.
    pub groups: Vec<FoundGroup>,
    /// Number of instances in all groups, each counted once.
    pub count: usize,
}

/// The instances with equal values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundGroup {
    /// A value for each field of the grouping; `None` for instances without one.
    pub values: Vec<Option<Value>>,
    /// Their number.
    pub count: usize,
    /// A value for each aggregate; `None` if no instance has one.
    pub aggregates: Vec<Option<Value>>,
}

/// A value for each field.
type Values = SmallVec<[Option<Value>; 2]>;

/// A field, looked up.
#[derive(Clone, Copy)]
enum Read {
    /// `None` if no instance ever had a property of this name.
    Property(Option<Symbol>),
    Header(Header),
}

struct Gathered {
    count: usize,
    computed: SmallVec<[Computed; 1]>,
}

/// Takes instances, one after the other.
pub(in crate::read) struct Grouper<'s, 'g> {
    snapshot: &'s Snapshot,
    kind: TypeKind,
    grouping: &'g Grouping,
    by: Vec<Read>,
    of: Vec<Read>,
    /// The advice for a caller with too many groups.
    advice: &'static str,
    groups: BTreeMap<Values, Gathered>,
    /// Size of the values that are kept.
    bytes: usize,
    count: usize,
    /// Counts since the last check for cancellation.
    unchecked: usize,
}

impl<'s, 'g> Grouper<'s, 'g> {
    /// Errors: `InvalidExpression` for `@text`; `InvalidArgument` for a field that comes twice; `TooLarge` for too many.
    pub(in crate::read) fn new(
        snapshot: &'s Snapshot,
        kind: TypeKind,
        grouping: &'g Grouping,
        advice: &'static str,
    ) -> Result<Grouper<'s, 'g>> {
        grouping.check()?;
        let read = |field: &Field| match field {
            Field::Property(name) => Read::Property(snapshot.graph().names.find(name)),
            Field::Header(header) => Read::Header(*header),
            // No grouping has it.
            Field::AnyText => Read::Property(None),
        };
        Ok(Grouper {
            snapshot,
            kind,
            grouping,
            by: grouping.by.iter().map(read).collect(),
            of: grouping.aggregates.iter().map(|aggregate| read(&aggregate.field)).collect(),
            advice,
            groups: BTreeMap::new(),
            bytes: 0,
            count: 0,
            unchecked: 0,
        })
    }

    /// Counts an instance. One with a set counts in the group of each member.
    ///
    /// Errors: `TooLarge` for too many groups, and for a sum that no number holds; `InvalidExpression` for values that cannot be
    /// added or compared; `Cancelled`.
    pub(in crate::read) fn add(&mut self, slot: u32, held: &Held) -> Result<()> {
        self.count += 1;
        let values: Values = self.of.iter().map(|read| self.value(slot, held, *read)).collect();
        for key in self.keys(slot, held)? {
            self.unchecked += 1;
            if self.unchecked >= COUNTED_UNCHECKED {
                self.unchecked = 0;
                self.snapshot.check_cancelled()?;
            }
            self.add_to(key, &values, slot, held)?;
        }
        Ok(())
    }

    /// The groups of an instance.
    fn keys(&self, slot: u32, held: &Held) -> Result<Vec<Values>> {
        let mut keys = vec![Values::new()];
        for read in &self.by {
            match self.value(slot, held, *read) {
                Some(Value::Set(members)) if !members.is_empty() => {
                    if keys.len().saturating_mul(members.len()) > GROUPS_MAX {
                        return Err(self.too_many());
                    }
                    let of_each = |member: Value| {
                        keys.iter().map(move |key| {
                            let mut key = key.clone();
                            key.push(Some(member.clone()));
                            key
                        })
                    };
                    keys = members.iter().flat_map(of_each).collect();
                }
                value => keys.iter_mut().for_each(|key| key.push(value.clone())),
            }
        }
        Ok(keys)
    }

    fn add_to(&mut self, key: Values, values: &Values, slot: u32, held: &Held) -> Result<()> {
        if !self.groups.contains_key(&key) {
            self.bytes += key.iter().flatten().map(value_bytes).sum::<usize>();
            if self.groups.len() == GROUPS_MAX || self.bytes > VALUES_BYTES_MAX {
                return Err(self.too_many());
            }
        }
        let grouping = self.grouping;
        let aggregates = &grouping.aggregates;
        let gathered = self.groups.entry(key).or_insert_with(|| Gathered::new(aggregates));
        gathered.count += 1;
        let mut failed = None;
        for ((computed, value), aggregate) in gathered.computed.iter_mut().zip(values).zip(aggregates) {
            let Some(value) = value else { continue };
            match computed.add(value) {
                Ok(more) => self.bytes += more,
                Err(refused) => failed = Some((refused, aggregate, value)),
            }
        }
        if let Some((refused, aggregate, value)) = failed {
            let subject = self.subject(slot, held);
            let id = subject.id(self.snapshot, self.kind, slot).to_string();
            return Err(refused.error(aggregate, Some((value, self.kind, &id))));
        }
        if self.bytes > VALUES_BYTES_MAX { Err(self.too_many()) } else { Ok(()) }
    }

    fn value(&self, slot: u32, held: &Held, read: Read) -> Option<Value> {
        match read {
            Read::Property(None) => None,
            Read::Property(Some(name)) => self.snapshot.value(self.kind, slot, held, name),
            Read::Header(header) => self.subject(slot, held).header(self.snapshot, header),
        }
    }

    fn subject<'h>(&'h self, slot: u32, held: &'h Held) -> Subject<'h> {
        match held {
            Held::InForce => Subject::InForce(self.kind, slot),
            Held::Read(version) => Subject::Read(self.kind, slot, version.row()),
        }
    }

    #[cold]
    fn too_many(&self) -> Error {
        let fields: Vec<String> = self.grouping.by.iter().map(ToString::to_string).collect();
        let text = format!(
            "group by {}: expected at most {GROUPS_MAX} different values of together {VALUES_BYTES_MAX} bytes, found \
             more; {}",
            fields.join(", "),
            self.advice
        );
        Error::new(ErrorKind::TooLarge, text)
    }

    /// The groups. Without fields there is one, also of no instances.
    ///
    /// Errors: `TooLarge` for a sum that no number holds.
    pub(in crate::read) fn finish(mut self) -> Result<FoundGroups> {
        let grouping = self.grouping;
        let aggregates = &grouping.aggregates;
        if self.by.is_empty() && self.groups.is_empty() {
            self.groups.insert(Values::new(), Gathered::new(aggregates));
        }
        let mut groups = Vec::with_capacity(self.groups.len());
        for (values, gathered) in self.groups {
            let computed = gathered.computed.into_iter().zip(aggregates);
            let computed = computed.map(|(computed, aggregate)| {
                computed.value().map_err(|refused| refused.error(aggregate, None))
            });
            let aggregates = computed.collect::<Result<_>>()?;
            groups.push(FoundGroup { values: values.into_vec(), count: gathered.count, aggregates });
        }
        groups.sort_by(|one, other| {
            Reverse(one.count).cmp(&Reverse(other.count)).then_with(|| in_order(&one.values, &other.values))
        });
        Ok(FoundGroups { groups, count: self.count })
    }
}

/// A missing value comes after all others.
fn in_order(one: &[Option<Value>], other: &[Option<Value>]) -> Ordering {
    let pairs = one.iter().zip(other);
    let orders = pairs.map(|(one, other)| one.is_none().cmp(&other.is_none()).then_with(|| one.cmp(other)));
    orders.fold(Ordering::Equal, Ordering::then)
}

impl Gathered {
    fn new(aggregates: &[Aggregate]) -> Gathered {
        let computed = aggregates.iter().map(|aggregate| Computed::new(aggregate.function));
        Gathered { count: 0, computed: computed.collect() }
    }
}

impl Uncomputed {
    /// The error about a value of an instance, or about the end of a sum.
    #[cold]
    fn error(self, aggregate: &Aggregate, found: Option<(&Value, TypeKind, &str)>) -> Error {
        let found = found.map(|(value, kind, id)| {
            format!(
                ", found {} of the {} {id}; leave it out with a condition, or convert the values (annals types convert)",
                value.value_type().name(),
                kind.name()
            )
        });
        let found = found.unwrap_or_default();
        let (kind, text) = match self {
            Uncomputed::NoNumber => {
                (ErrorKind::InvalidExpression, format!("{aggregate}: expected numbers{found}"))
            }
            Uncomputed::Incomparable => (
                ErrorKind::InvalidExpression,
                format!("{aggregate}: expected single values that searches compare with each other{found}"),
            ),
            Uncomputed::TooGreat => (
                ErrorKind::TooLarge,
                format!(
                    "{aggregate}: expected a sum that a number holds, found one beyond all decimals or floats; narrow the search, or \
                     group by more fields"
                ),
            ),
        };
        Error::new(kind, text)
    }
}
