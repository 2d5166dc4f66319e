//! A whole search: conditions, order and page.

use std::sync::Arc;

use super::expression::{Expression, Field, Header, Operator};
use crate::model::Value;

/// Default bound of a page of a search, or of relationships: it ends before the stored bytes of its instances exceed
/// this.
/// Units: bytes.
pub const PAGE_BYTES_MAX: usize = 64 << 20;
/// Most candidates that a search checks, by default. Units: instances.
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
    /// A property or a header field.
    pub field: Field,
    /// Its direction.
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

/// Whether a search finds deleted instances.
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
    /// Of these types only these subtypes, without their own subtypes; all if empty.
    pub subtypes: Vec<Arc<str>>,
    /// Only instances with one of these statuses; any if empty. If you name `deleted`, deleted instances are found too.
    pub statuses: Vec<Arc<str>>,
    /// Whether deleted instances are found.
    pub deleted: Deleted,
    /// True to find also entities that the repository holds only as proxies. They look like other entities; `is_proxy`
    /// tells them apart.
    pub with_proxies: bool,
    /// The conditions.
    pub filter: Expression,
    /// The order, the most important key first. Without one, the fastest order, which is the same on every page.
    pub order: Vec<OrderBy>,
    /// Only instances after the page that ended with this cursor.
    pub after: Option<String>,
    /// Skips this many instances. Prefer `after`, whose cost does not grow with the number of pages.
    pub offset: usize,
    /// Page size. Units: instances.
    pub limit: usize,
    /// Ends the page with the instance whose stored bytes bring it over this. By default only instances count whose
    /// handles take memory: in the present, without a memory budget, none does. Units: bytes.
    pub bytes_max: usize,
    /// Refuses to check more candidates than this. Units: instances.
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

    /// The same with another expression that must hold.
    #[must_use]
    pub fn filter(mut self, expression: Expression) -> Find {
        self.filter = std::mem::replace(&mut self.filter, Expression::everything()).and(expression);
        self
    }

    /// The same with another condition.
    #[must_use]
    pub fn matching(self, property: &str, operator: Operator, value: impl Into<Value>) -> Find {
        self.filter(Expression::property(property, operator, value))
    }

    /// The same, only entities with this classification or a subtype of it.
    #[must_use]
    pub fn classified(self, classification: &str) -> Find {
        self.filter(Expression::classified(classification))
    }

    /// The same, only instances with one of these statuses.
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

    /// The same, with or without deleted instances.
    #[must_use]
    pub fn deleted(mut self, deleted: Deleted) -> Find {
        self.deleted = deleted;
        self
    }

    /// The same, also with entities that the repository holds only as proxies.
    #[must_use]
    pub fn with_proxies(mut self) -> Find {
        self.with_proxies = true;
        self
    }

    /// The same, ordered by a property, smallest first, after its other keys.
    #[must_use]
    pub fn order_by(self, property: &str) -> Find {
        self.sort(Field::Property(property.into()), Order::Ascending)
    }

    /// The same, ordered by a property, largest first, after its other keys.
    #[must_use]
    pub fn order_by_descending(self, property: &str) -> Find {
        self.sort(Field::Property(property.into()), Order::Descending)
    }

    /// The same, ordered by a header field, after its other keys.
    #[must_use]
    pub fn order_by_header(self, header: Header, order: Order) -> Find {
        self.sort(Field::Header(header), order)
    }

    /// The same with another key of its order.
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

    /// The same, skipping `offset` instances.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Find {
        self.offset = offset;
        self
    }

    /// The same, after the page that ended with `cursor`.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<String>) -> Find {
        self.after = Some(cursor.into());
        self
    }
}
