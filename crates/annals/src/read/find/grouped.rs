//! Groups of what a search finds: counts, sums, and least and greatest values.

use super::by_plan::{Search, Steps};
use crate::Result;
use crate::model::TypeKind;
use crate::read::operators::filter::properties::check_order;
use crate::read::operators::filter::resolve;
use crate::read::operators::grouper::{FoundGroups, Grouper};
use crate::read::snapshot::Snapshot;
use crate::search::{Find, Grouping, OrderBy};

/// The advice for a caller with too many groups.
const ADVICE: &str = "narrow the search, or group by something that more instances share";

impl Snapshot {
    /// Groups the entities that a search finds, on all its pages: the order of the search, and its page, have no influence.
    ///
    /// An entity with a set counts in the group of each member, so the sum of the counts may exceed [`FoundGroups::count`].
    /// Values of different kinds are different, also numbers. A sum of integers and decimals is exact, up to 28 digits; with a
    /// float among them it is a float.
    ///
    /// ```
    /// use annals::{Find, Grouping, NewEntity, Repository};
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| {
    ///     for (owner, rows) in [("sales", 3), ("finance", 5), ("sales", 4)] {
    ///         t.create_entity(NewEntity::new("table").property("owner", owner).property("rows", rows))?;
    ///     }
    ///     Ok(())
    /// })?;
    /// let grouping = Grouping::default().by("owner").sum("rows").max("rows");
    /// let found = repository.snapshot().group_entities(&Find::of("table"), &grouping)?;
    /// assert_eq!(found.count, 3);
    /// assert_eq!((&found.groups[0].values[..], found.groups[0].count), (&[Some("sales".into())][..], 2));
    /// assert_eq!(found.groups[0].aggregates, [Some(7.into()), Some(4.into())]);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: as [`Snapshot::find_entities`], also for the fields of the grouping; `InvalidExpression` for `@text`, for a sum of
    /// values that are no numbers, and for values without an order among each other; `TooLarge` for more than
    /// [`GROUPS_MAX`](crate::GROUPS_MAX) groups or 16 MiB of values, and for a sum that no number holds.
    pub fn group_entities(&self, find: &Find, grouping: &Grouping) -> Result<FoundGroups> {
        self.group_found(TypeKind::Entity, find, grouping)
    }

    /// Groups the relationships that a search finds. Errors: as [`Snapshot::group_entities`].
    pub fn group_relationships(&self, find: &Find, grouping: &Grouping) -> Result<FoundGroups> {
        self.group_found(TypeKind::Relationship, find, grouping)
    }

    fn group_found(&self, kind: TypeKind, find: &Find, grouping: &Grouping) -> Result<FoundGroups> {
        let mut grouper = Grouper::new(self, kind, grouping, ADVICE)?;
        let search = Search::new(self, kind, find)?;
        let types = resolve::types(self, kind, find)?;
        let fields: Vec<OrderBy> = grouping.fields().cloned().map(OrderBy::ascending).collect();
        check_order(self, kind, types.as_deref(), &fields)?;
        search.each(&mut Steps::default(), &mut |slot, held| grouper.add(slot, &held))?;
        grouper.finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Cancel, ErrorKind, Find, GROUPS_MAX, Grouping, Header, NewEntity, Options, Repository, Result, Value,
    };

    fn refused(repository: &Repository, grouping: &Grouping) -> ErrorKind {
        repository.snapshot().group_entities(&Find::all(), grouping).unwrap_err().kind()
    }

    #[test]
    fn groups_have_bounds_and_end_when_they_are_cancelled() -> Result<()> {
        let repository = Repository::in_memory();
        repository.transact(|t| {
            (0..=GROUPS_MAX).try_for_each(|number| {
                let number = i64::try_from(number).unwrap_or_default();
                t.create_entity(NewEntity::new("t").property("n", number).property("half", number / 2))
                    .map(drop)
            })
        })?;
        let by_n = Grouping::default().by("n");
        let error = repository.snapshot().group_entities(&Find::all(), &by_n).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.text().contains("narrow the search"), "{error}");
        let by_half = Grouping::default().by("half").sum("n");
        let found = repository.snapshot().group_entities(&Find::all(), &by_half)?;
        assert_eq!((found.groups.len(), found.count), (GROUPS_MAX / 2 + 1, GROUPS_MAX + 1));
        let cancel = Cancel::new();
        cancel.cancel();
        let cancelled = repository.snapshot().cancelled_by(&cancel).group_entities(&Find::all(), &by_half);
        assert_eq!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled);
        let too_many = (0..17).fold(Grouping::default(), |grouping, n| grouping.by(&*format!("p{n}")));
        assert_eq!(refused(&repository, &too_many), ErrorKind::TooLarge);
        assert_eq!(refused(&repository, &Grouping::default().max("n").max("n")), ErrorKind::InvalidArgument);
        Ok(())
    }

    #[test]
    fn the_members_of_sets_and_long_texts_count_against_the_bounds() -> Result<()> {
        let repository = Repository::in_memory();
        let set = |from: i64| Value::set((from..from + 101).map(Value::from));
        let text = |letter: &str| letter.repeat(9 << 20);
        repository.transact(|t| {
            t.create_entity(NewEntity::new("t").property("one", set(0)?).property("two", set(500)?))?;
            t.create_entity(NewEntity::new("t").property("text", text("a")))?;
            t.create_entity(NewEntity::new("t").property("text", text("b")))
        })?;
        assert_eq!(refused(&repository, &Grouping::default().by("one").by("two")), ErrorKind::TooLarge);
        assert_eq!(refused(&repository, &Grouping::default().by("text")), ErrorKind::TooLarge);
        let found =
            repository.snapshot().group_entities(&Find::all(), &Grouping::default().by("one").max("text"))?;
        assert_eq!((found.groups.len(), found.count), (102, 3));
        Ok(())
    }

    #[test]
    fn values_that_are_on_disk_are_grouped_too() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { memory_bytes_max: Some(16 << 30), ..Options::default() };
        let repository = Repository::open_with(folder.path(), options)?;
        for letter in ["a", "b", "a"] {
            let long = letter.repeat(200_000);
            repository.transact(|t| {
                t.create_entity(NewEntity::new("t").property("text", long.clone()).property("n", 2))
            })?;
        }
        let grouping = Grouping::default().by("text").sum("n").min(Header::Version);
        let found = repository.snapshot().group_entities(&Find::of("t"), &grouping)?;
        let counts: Vec<usize> = found.groups.iter().map(|group| group.count).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(found.groups[0].values, [Some(Value::from("a".repeat(200_000)))]);
        assert_eq!(found.groups[0].aggregates, [Some(4.into()), Some(1.into())]);
        Ok(())
    }
}
