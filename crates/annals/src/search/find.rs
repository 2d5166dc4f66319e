//! A whole search: what, in which order, which page.

use std::sync::Arc;

use super::expression::{Expression, Field, Header, Operator};
use crate::model::Value;

/// A page of a search, or of relationships, ends before what is stored of its instances is more, unless it says otherwise.
/// Units: bytes.
pub const PAGE_BYTES_MAX: usize = 64 << 20;
/// Most candidates that a search looks at, unless it says otherwise. Units: instances.
pub const FIND_VISITED_MAX: usize = 10_000_000;

/// Smallest first, or largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest first.
    #[default]
    Ascending,
    /// Largest first.
    Descending,
}

/// One key of an order. Instances without the field come last, in either direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderBy {
    /// A property, or what the repository keeps about the instance.
    pub field: Field,
    /// Which way.
    pub order: Order,
}

impl OrderBy {
    /// Smallest first, by a property or a header field.
    pub fn ascending(field: impl Into<Field>) -> OrderBy {
        OrderBy { field: field.into(), order: Order::Ascending }
    }

    /// Largest first.
    pub fn descending(field: impl Into<Field>) -> OrderBy {
        OrderBy { field: field.into(), order: Order::Descending }
    }
}

/// Whether deleted instances are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deleted {
    /// Only live ones.
    #[default]
    Without,
    /// Live ones and deleted ones.
    With,
    /// Only deleted ones.
    Only,
}

/// A search.
///
/// ```
/// use annals::{Find, NewEntity, Operator, Repository};
/// let repository = Repository::in_memory();
/// repository.transact(|t| {
///     for (name, size) in [("bash", 7), ("dash", 1), ("zsh", 3)] {
///         t.create_entity(NewEntity::new("package").property("name", name).property("size", size))?;
///     }
///     Ok(())
/// })?;
/// let snapshot = repository.snapshot();
/// let small = Find::of("package").matching("size", Operator::Less, 5).order_by("size");
/// let page = snapshot.find_entities(&small)?;
/// let names: Vec<_> = page.items.iter().map(|found| found.property("name").unwrap()).collect();
/// assert_eq!(names, ["dash".into(), "zsh".into()]);
/// assert_eq!(small, Find::parse("package where size < 5 order by size")?);
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Find {
    /// Only these types and their subtypes; all if empty.
    pub types: Vec<Arc<str>>,
    /// Of those only these, without their own subtypes; all if empty.
    pub subtypes: Vec<Arc<str>>,
    /// Only what has one of these statuses; any if empty. Who names `deleted` finds deleted instances too.
    pub statuses: Vec<Arc<str>>,
    /// Whether deleted instances are found.
    pub deleted: Deleted,
    /// True if entities are found of which only a proxy is here, too. They look like others; `is_proxy` tells.
    pub with_proxies: bool,
    /// What must hold.
    pub filter: Expression,
    /// The order, the most important key first. Without one: in the order that is found fastest, the same on every page.
    pub order: Vec<OrderBy>,
    /// Only what follows the page that ended with this cursor.
    pub after: Option<String>,
    /// Leaves out so many of the first. Prefer `after`, which costs nothing however far on it leads.
    pub offset: usize,
    /// Page size. Units: instances.
    pub limit: usize,
    /// Ends the page early with the instance that takes what is stored of its instances over this. By the default only handles
    /// that take memory count: those of the present without a memory budget do not. Units: bytes.
    pub bytes_max: usize,
    /// Refuses to look at more candidates than this. Units: instances.
    pub visited_max: usize,
}

impl Default for Find {
    fn default() -> Find {
        Find {
            types: Vec::new(),
            subtypes: Vec::new(),
            statuses: Vec::new(),
            deleted: Deleted::Without,
            with_proxies: false,
            filter: Expression::everything(),
            order: Vec::new(),
            after: None,
            offset: 0,
            limit: 100,
            bytes_max: PAGE_BYTES_MAX,
            visited_max: FIND_VISITED_MAX,
        }
    }
}

impl Find {
    /// All instances.
    pub fn all() -> Find {
        Find::default()
    }

    /// All instances of a type and its subtypes.
    pub fn of(type_name: &str) -> Find {
        Find { types: vec![type_name.into()], ..Find::default() }
    }

    /// The same with one more expression that must hold.
    #[must_use]
    pub fn filter(mut self, expression: Expression) -> Find {
        self.filter = std::mem::replace(&mut self.filter, Expression::everything()).and(expression);
        self
    }

    /// The same with one condition more.
    #[must_use]
    pub fn matching(self, property: &str, operator: Operator, value: impl Into<Value>) -> Find {
        self.filter(Expression::property(property, operator, value))
    }

    /// The same, only entities with this classification or a subtype of it.
    #[must_use]
    pub fn classified(self, classification: &str) -> Find {
        self.filter(Expression::classified(classification))
    }

    /// The same, only what has one of these statuses.
    ///
    /// ```
    /// use annals::{Find, InstanceId, NewEntity, Repository};
    /// let repository = Repository::in_memory();
    /// let (report, _) = repository.transact(|t| {
    ///     t.create_entity(NewEntity::new("report"))?;
    ///     t.create_entity(NewEntity::new("report"))
    /// })?;
    /// repository.transact(|t| t.set_status(&InstanceId::Entity(report.clone()), "draft"))?;
    /// let drafts = Find::of("report").with_statuses(["draft"]);
    /// assert_eq!(drafts, Find::parse("report status draft")?);
    /// let snapshot = repository.snapshot();
    /// let page = snapshot.find_entities(&drafts)?;
    /// assert_eq!(page.items.iter().map(|found| found.id()).collect::<Vec<_>>(), [&report]);
    /// # Ok::<(), annals::Error>(())
    /// ```
    #[must_use]
    pub fn with_statuses<'n>(mut self, statuses: impl IntoIterator<Item = &'n str>) -> Find {
        self.statuses.extend(statuses.into_iter().map(Arc::from));
        self
    }

    /// The same, with deleted instances as said.
    #[must_use]
    pub fn deleted(mut self, deleted: Deleted) -> Find {
        self.deleted = deleted;
        self
    }

    /// The same, with entities of which only a proxy is here.
    #[must_use]
    pub fn with_proxies(mut self) -> Find {
        self.with_proxies = true;
        self
    }

    /// The same, ordered by a property, smallest first; after the keys that it has.
    #[must_use]
    pub fn order_by(self, property: &str) -> Find {
        self.sort(Field::Property(property.into()), Order::Ascending)
    }

    /// The same, ordered by a property, largest first; after the keys that it has.
    #[must_use]
    pub fn order_by_descending(self, property: &str) -> Find {
        self.sort(Field::Property(property.into()), Order::Descending)
    }

    /// The same, ordered by what the repository keeps about the instances; after the keys that it has.
    #[must_use]
    pub fn order_by_header(self, header: Header, order: Order) -> Find {
        self.sort(Field::Header(header), order)
    }

    /// The same with one more key of its order.
    #[must_use]
    pub fn sort(mut self, field: Field, order: Order) -> Find {
        self.order.push(OrderBy { field, order });
        self
    }

    /// The same with pages of this size.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Find {
        self.limit = limit;
        self
    }

    /// The same without the first `offset`.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Find {
        self.offset = offset;
        self
    }

    /// The same, following the page that ended with `cursor`.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<String>) -> Find {
        self.after = Some(cursor.into());
        self
    }
}
