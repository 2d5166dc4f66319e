//! Units that only later records changed, which a take-back leaves, in the model.

use std::collections::BTreeSet;

use crate::model::{Age, Content, Known};
use crate::world::World;

/// The records that are taken back: the positions before them, and of the last.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub before: u64,
    pub position: u64,
}

/// The content after a take-back, of an instance that later records changed, too.
pub(crate) enum Merged {
    /// Both changed the same.
    Conflict,
    /// It stays as it is.
    Left,
    Into(Content),
}

/// Links and children whose places are theirs.
#[derive(Default)]
pub(crate) struct Kept {
    pub links: BTreeSet<Age>,
    pub children: BTreeSet<Age>,
}

/// A unit in three states: the one that it gets, and whether the records changed it; `None` for a conflict.
fn unit<T: PartialEq>(then: T, after: T, now: T) -> Option<(T, bool)> {
    match () {
        () if then == after => Some((now, false)),
        () if then == now => Some((now, false)),
        () if after == now => Some((then, true)),
        () => None,
    }
}

/// True if it belonged to the other collection after a record.
fn is_foreign(known: &Known, position: u64) -> bool {
    known.adopted_at.map_or(known.is_copy, |adopted| adopted > position)
}

/// An entity, or a relationship that does not contain.
pub(crate) fn merged(known: &Known, then: &Content, Span { before, position }: Span) -> Merged {
    let now = known.now();
    let after = known.at(position).expect("a record changed it");
    let states = [(then, before), (after, position), (now, u64::MAX)];
    let [was, became, is] = states.map(|(content, position)| (content.license, is_foreign(known, position)));
    let is_typed_alike = then.type_name == after.type_name && after.type_name == now.type_name;
    let target = if is_typed_alike {
        let of = |take: fn(&Content) -> Option<i64>| unit(take(then), take(after), take(now));
        let units = (
            of(|content| content.fields.n),
            of(|content| content.fields.code),
            unit(then.fields.stored, after.fields.stored, now.fields.stored),
            unit(then.ends, after.ends, now.ends),
            unit(was, became, is),
        );
        let (Some(n), Some(code), Some(stored), Some(ends), Some(provenance)) = units else {
            return Merged::Conflict;
        };
        let is_changed = n.1 || code.1 || stored.1 || ends.1 || provenance.1;
        let mut target = now.clone();
        (target.fields.n, target.fields.code, target.fields.stored) = (n.0, code.0, stored.0);
        target.ends = ends.0;
        // A home is not given back.
        if provenance.0.1 == is.1 {
            target.license = provenance.0.0;
        }
        (target, is_changed)
    } else {
        let whole = |content: &Content, provenance| {
            (content.type_name, content.fields.clone(), content.ends, provenance)
        };
        let Some((_, is_changed)) = unit(whole(then, was), whole(after, became), whole(now, is)) else {
            return Merged::Conflict;
        };
        let kept = if is_changed { then } else { now };
        (Content { id: now.id.clone(), ..kept.clone() }, is_changed)
    };
    match target {
        (_, false) if is_deleted_since(after, now) => Merged::Left,
        (_, true) if is_deleted_since(after, now) => Merged::Conflict,
        (target, _) => Merged::Into(Content { is_live: true, ..target }),
    }
}

fn is_deleted_since(after: &Content, now: &Content) -> bool {
    after.is_live && !now.is_live
}

impl World {
    /// The link that contains a child after a record.
    fn place_at(&self, child: Age, position: u64) -> Option<(Age, &Content)> {
        self.model.all[&child].at(position).filter(|content| content.is_live)?;
        self.model.all.iter().find_map(|(age, known)| {
            let content = known.at(position).filter(|content| content.is_live && known.contains())?;
            content.ends.is_some_and(|ends| ends[1] == child).then_some((*age, content))
        })
    }

    /// The places that are theirs, or are as before again; `None` for a conflict.
    pub(crate) fn kept_places(&self, ages: &[Age], Span { before, position }: Span) -> Option<Kept> {
        let mut kept = Kept::default();
        for &age in ages.iter().filter(|age| self.model.all[age].contains()) {
            let known = &self.model.all[&age];
            let (then, now) = (known.at(before).filter(|then| then.is_live), known.now());
            let is_later = known.place().0 > position;
            let mut children: Vec<Age> = [now.ends, then.and_then(|then| then.ends)]
                .into_iter()
                .flatten()
                .map(|ends| ends[1])
                .collect();
            children.dedup();
            for child in children {
                let is_new = self.model.all[&child].at(before).is_none_or(|content| !content.is_live);
                let is_live = self.model.all[&child].now().is_live;
                if then.is_none() && !now.is_live && (is_new || !is_live) {
                    continue;
                }
                if is_new {
                    if is_later {
                        return None;
                    }
                    continue;
                }
                let other = self.model.parent(child).map(|(link, _)| link).filter(|link| *link != age);
                let is_elsewhere = other
                    .is_some_and(|link| !ages.contains(&link) && self.model.all[&link].place().0 > position);
                if !is_later && !is_elsewhere {
                    continue;
                }
                let [was, became, is] = [before, position, u64::MAX].map(|position| {
                    let (link, content) = self.place_at(child, position)?;
                    let is_foreign = is_foreign(&self.model.all[&link], position);
                    Some((
                        content.ends,
                        content.name.clone(),
                        content.fields.clone(),
                        content.license,
                        is_foreign,
                    ))
                });
                if was == became || was == is {
                    kept.links.insert(age);
                    kept.children.insert(child);
                } else if became != is || is_elsewhere {
                    return None;
                }
            }
        }
        Some(kept)
    }
}
