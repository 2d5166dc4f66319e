//! Reads of snapshots, and of transactions with their own changes.

use std::sync::Arc;
use std::time::Duration;

use annals::{
    AsOf, Deleted, Direction, Entity, Expression, Find, Header, Id, Operator, Page, Relationship, Result,
    Snapshot, Transaction, TypeKind,
};
use annals_json::{Object, as_of_from_json, find_from_json, invalid};

use crate::argument::{object, text};
use crate::handles::{self, Thing, wrong};
use crate::packed::{Reader, Writer};

/// Longest wait for records of the time that is asked for.
const SETTLED_TIME: Duration = Duration::from_secs(5);
/// A page of neighbours ends behind the one that makes it this large; more follow on the next page.
const PAGE_BYTES_MAX: usize = 16 << 20;

/// A view that reads go to.
enum View<'v> {
    Snapshot(&'v Snapshot),
    Transaction(&'v mut Transaction),
}

impl View<'_> {
    /// The view as a whole: a serializable transaction then counts as having read everything.
    fn snapshot(&mut self) -> Result<&Snapshot> {
        match self {
            View::Snapshot(snapshot) => Ok(snapshot),
            View::Transaction(transaction) => transaction.view(),
        }
    }

    fn entity(&mut self, id: &Id) -> Result<Option<Entity<'_>>> {
        match self {
            View::Snapshot(snapshot) => snapshot.entity(id),
            View::Transaction(transaction) => transaction.entity_alone(id),
        }
    }

    fn relationship(&mut self, id: &Id) -> Result<Option<Relationship<'_>>> {
        match self {
            View::Snapshot(snapshot) => snapshot.relationship(id),
            View::Transaction(transaction) => transaction.relationship_alone(id),
        }
    }

    fn find_entities(&mut self, find: &Find) -> Result<Page<Entity<'_>>> {
        match self {
            View::Snapshot(snapshot) => snapshot.find_entities(find),
            View::Transaction(transaction) => transaction.find_entities(find),
        }
    }

    fn find_relationships(&mut self, find: &Find) -> Result<Page<Relationship<'_>>> {
        match self {
            View::Snapshot(snapshot) => snapshot.find_relationships(find),
            View::Transaction(transaction) => transaction.find_relationships(find),
        }
    }
}

fn with_view<T>(handle: i64, work: impl FnOnce(View<'_>) -> Result<T>) -> Result<T> {
    match handles::get(handle)? {
        Thing::Snapshot(snapshot) => work(View::Snapshot(&snapshot)),
        Thing::Transaction(_) => {
            handles::with_transaction(handle, |transaction| work(View::Transaction(transaction)))
        }
        _ => Err(wrong(handle, "a snapshot or a transaction")),
    }
}

/// A new snapshot: the present one of a repository, the view of a transaction, or the same one as of another time.
pub fn snapshot(of: i64, as_of: Option<&[u8]>) -> Result<i64> {
    let as_of = match as_of {
        Some(time) => as_of_from_json(&object(time, "time")?, "time")?,
        None => AsOf::default(),
    };
    let snapshot = match handles::get(of)? {
        Thing::Repository(opened) => {
            let repository = opened.repository()?;
            if let Some(instant) = as_of.instant {
                repository.wait_settled(instant, SETTLED_TIME)?;
            }
            repository.snapshot()
        }
        Thing::Snapshot(snapshot) => Snapshot::clone(&snapshot),
        Thing::Transaction(_) => handles::with_transaction(of, |transaction| transaction.view().cloned())?,
        Thing::Exchange(..) => return Err(wrong(of, "a repository, a snapshot or a transaction")),
    };
    Ok(handles::add(Thing::Snapshot(Arc::new(snapshot.as_of(as_of)?))))
}

/// The packed entity (kind 0) or relationship (kind 1); `None` if the view does not see it.
pub fn get(view: i64, kind: i32, id: &[u8]) -> Result<Option<Vec<u8>>> {
    let id = std::str::from_utf8(id).map_err(|_| invalid("id: expected UTF-8"))?;
    let id = Id::new(id)?;
    with_view(view, |mut view| {
        let mut out = Writer(Vec::with_capacity(256));
        let is_there = write_one(&mut view, kind_of(kind)?, &id, &mut out)?;
        Ok(is_there.then_some(out.0))
    })
}

fn kind_of(number: i32) -> Result<TypeKind> {
    match number {
        0 => Ok(TypeKind::Entity),
        1 => Ok(TypeKind::Relationship),
        other => Err(invalid(format!("kind: expected 0 or 1, found {other}"))),
    }
}

fn write_one(view: &mut View<'_>, kind: TypeKind, id: &Id, out: &mut Writer) -> Result<bool> {
    Ok(match kind {
        TypeKind::Relationship => view.relationship(id)?.map(|found| out.relationship(&found)),
        _ => view.entity(id)?.map(|found| out.entity(&found)),
    }
    .is_some())
}

/// A read by its number in `Native.read`.
pub fn read(view: i64, operation: i32, request: &[u8]) -> Result<Vec<u8>> {
    let mut out = Writer::default();
    let mut input = Reader::new(request);
    with_view(view, |mut view| match operation {
        0 => {
            let snapshot = view.snapshot()?;
            let position = snapshot.position();
            out.i64(i64::try_from(position.0).unwrap_or(i64::MAX));
            out.i64(snapshot.instant_of(position).map_or(0, |instant| instant.micros()));
            Ok(())
        }
        1 => {
            let kind = kind_of(input.u8()?.into())?;
            let ids = input.ids()?;
            input.end()?;
            out.count(ids.len());
            for id in &ids {
                let at = out.0.len();
                out.u8(0);
                out.0[at] = u8::from(write_one(&mut view, kind, id, &mut out)?);
            }
            Ok(())
        }
        2 => {
            let (kind, find) = find(&object(request, "search")?)?;
            write_page(&mut view, kind, &find, &mut out)
        }
        3 => {
            let (kind, find) = find(&object(request, "search")?)?;
            let count = match kind {
                TypeKind::Relationship => view.snapshot()?.count_relationships(&find)?,
                _ => view.snapshot()?.count_entities(&find)?,
            };
            out.i64(i64::try_from(count).unwrap_or(i64::MAX));
            Ok(())
        }
        4 => links(&mut view, &mut input, &mut out),
        5 => {
            let kind = kind_of(input.u8()?.into())?;
            let types = input.texts()?;
            let (after, limit) = (input.text()?, input.u32()?);
            input.end()?;
            let mut find = Find::all().limit(limit as usize);
            find.types = types.iter().map(|name| (*name).into()).collect();
            if !after.is_empty() {
                find = find.after(after);
            }
            write_page(&mut view, kind, &find, &mut out)
        }
        6 => {
            let kind = kind_of(input.u8()?.into())?;
            let ids = input.ids()?;
            input.end()?;
            let snapshot = view.snapshot()?;
            out.count(ids.len());
            for id in &ids {
                let at = out.0.len();
                out.u8(0);
                out.0[at] = u8::from(write_known(snapshot, kind, id, &mut out)?);
            }
            Ok(())
        }
        7 => neighbors_page(&mut view, &mut input, &mut out),
        other => Err(invalid(format!("read: expected an operation of 0 to 7, found {other}"))),
    })?;
    Ok(out.0)
}

/// Writes an instance, also a deleted one, or a proxy.
fn write_known(snapshot: &Snapshot, kind: TypeKind, id: &Id, out: &mut Writer) -> Result<bool> {
    let of_id = || {
        Find::all()
            .filter(Expression::header(Header::Id, Operator::Equal, id.to_string()))
            .deleted(Deleted::Only)
    };
    if kind == TypeKind::Relationship {
        if let Some(found) = snapshot.relationship(id)? {
            out.relationship(&found);
            return Ok(true);
        }
        let found = snapshot.find_relationships(&of_id())?.items;
        found.iter().for_each(|found| out.relationship(found));
        return Ok(!found.is_empty());
    }
    if let Some(found) = snapshot.entity_summary(id)? {
        out.entity(&found);
        return Ok(true);
    }
    let found = snapshot.find_entities(&of_id())?.items;
    found.iter().for_each(|found| out.entity(found));
    Ok(!found.is_empty())
}

/// A search and the kind of its results.
fn find(members: &Object) -> Result<(TypeKind, Find)> {
    let kind = match text(members, "kind")? {
        None | Some("entity") => TypeKind::Entity,
        Some("relationship") => TypeKind::Relationship,
        Some(other) => {
            return Err(invalid(format!("kind: expected entity or relationship, found {other:?}")));
        }
    };
    let mut rest = members.clone();
    rest.remove("kind");
    Ok((kind, find_from_json(&rest)?))
}

fn write_page(view: &mut View<'_>, kind: TypeKind, find: &Find, out: &mut Writer) -> Result<()> {
    let next = match kind {
        TypeKind::Relationship => {
            let page = view.find_relationships(find)?;
            out.count(page.items.len());
            page.items.iter().for_each(|found| out.relationship(found));
            page.next
        }
        _ => {
            let page = view.find_entities(find)?;
            out.count(page.items.len());
            page.items.iter().for_each(|found| out.entity(found));
            page.next
        }
    };
    out.u8(u8::from(next.is_some()));
    out.text(next.as_deref().unwrap_or_default());
    Ok(())
}

/// The relationships of several entities, with their other ends.
fn links(view: &mut View<'_>, input: &mut Reader<'_>, out: &mut Writer) -> Result<()> {
    let directions: &[Direction] = match input.u8()? {
        0 => &[Direction::Out],
        1 => &[Direction::In],
        2 => &[Direction::Out, Direction::In],
        other => return Err(invalid(format!("direction: expected 0 to 2, found {other}"))),
    };
    let parts = input.u8()?;
    let (types, most, ids) = (input.texts()?, input.u32()?, input.ids()?);
    input.end()?;
    let snapshot = view.snapshot()?;
    let (mut from, mut indexes) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
    for (index, id) in (0u32..).zip(&ids) {
        if let Some(entity) = snapshot.entity(id)? {
            from.push(entity);
            indexes.push(index);
        }
    }
    let one = (types.len() == 1).then(|| types[0]);
    let write = |out: &mut Writer, at: usize, direction, neighbor: &annals::Neighbor<'_>| {
        if !types.is_empty() && !types.contains(&neighbor.relationship.type_name()) {
            return false;
        }
        out.u32(indexes[at]);
        out.u8(u8::from(direction == Direction::In));
        match parts & (1 | 4) {
            0 => out.id(neighbor.relationship.id()),
            4 => out.text(""),
            _ => out.relationship(&neighbor.relationship),
        }
        match parts & 2 {
            0 => out.id(neighbor.entity.id()),
            _ => out.entity(&neighbor.entity),
        }
        true
    };
    out.counted(|out| {
        let mut count = 0;
        if most == 0 {
            snapshot.each_neighbor(&from, directions, one, |at, direction, neighbor| {
                count += usize::from(write(out, at, direction, &neighbor));
                Ok(())
            })?;
            return Ok(count);
        }
        for (at, entity) in from.iter().enumerate() {
            let mut left = most;
            for &direction in directions {
                let mut neighbors = entity.neighbors(direction, one);
                while left > 0
                    && let Some(neighbor) = neighbors.next()
                {
                    let is_written = write(out, at, direction, &neighbor?);
                    (count, left) = (count + usize::from(is_written), left - u32::from(is_written));
                }
            }
        }
        Ok(count)
    })
}

/// A page of the neighbours of one entity, as `GET /v1/entities/{id}/neighbors` answers it.
fn neighbors_page(view: &mut View<'_>, input: &mut Reader<'_>, out: &mut Writer) -> Result<()> {
    let direction = match input.u8()? {
        0 => Direction::Out,
        1 => Direction::In,
        other => return Err(invalid(format!("direction: expected 0 or 1, found {other}"))),
    };
    let (type_name, after, limit) = (input.text()?, input.text()?, input.u32()?);
    let id = Id::new(input.text()?)?;
    input.end()?;
    let type_name = (!type_name.is_empty()).then_some(type_name);
    let after = (!after.is_empty()).then(|| Id::new(after)).transpose()?;
    let mut found = view.snapshot()?.neighbors_after(&id, direction, type_name, after.as_ref())?;
    let mut last = None;
    out.counted(|out| {
        let mut count = 0;
        while count < limit as usize
            && out.0.len() < PAGE_BYTES_MAX
            && let Some(neighbor) = found.next().transpose()?
        {
            out.relationship(&neighbor.relationship);
            out.entity(&neighbor.entity);
            last = Some(neighbor.relationship.id().to_string());
            count += 1;
        }
        Ok::<_, annals::Error>(count)
    })?;
    let next = found.next().transpose()?.and(last);
    out.u8(u8::from(next.is_some()));
    out.text(next.as_deref().unwrap_or_default());
    Ok(())
}
