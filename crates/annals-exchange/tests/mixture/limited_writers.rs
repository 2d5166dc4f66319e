//! Writers with grants: a transaction is accepted if the model accepts it, and the grants admit all that it names and
//! touches. Their rights live as long as the history, across compactions, kills, backups and other places.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::*;

use crate::edit::Work;
use crate::model::{Age, Change, Content, Fields, Known, Model, Place};
use crate::push::push_all;
use crate::random::Random;
use crate::see::{Name, Seen, id, of_model, of_snapshot};
use crate::world::World;

/// Writers of one history.
const WRITERS: usize = 3;
/// How often changes are chosen until the model allows them.
const CHOICES: usize = 6;

/// The entities of a grant, as a search, and as the model asks the same.
type Where = (&'static str, fn(&Content) -> bool);

const ENTITIES: [Where; 5] = [
    ("*", |_| true),
    ("node where n <= 1", |content| content.type_name == "node" && content.fields.n.is_some_and(|n| n <= 1)),
    ("node where n > 0", |content| content.type_name == "node" && content.fields.n.is_some_and(|n| n > 0)),
    ("item", |content| content.type_name == "item"),
    ("* where code = 1", |content| content.fields.code == Some(1)),
];

/// A grant, as the model asks it.
struct Given {
    entities: Where,
    under: Option<&'static str>,
    relationships: Option<&'static str>,
    rights: Vec<Right>,
}

/// A writer with some grants.
pub struct Writer {
    given: Vec<Given>,
    pub(crate) rights: Arc<Rights>,
}

impl Given {
    fn any(random: &mut Random) -> Given {
        let rights = Right::ALL.into_iter().filter(|_| !random.one_in(3)).collect();
        let under = ["root", "e0", "e1"];
        Given {
            entities: *random.choose(&ENTITIES),
            under: random.one_in(3).then(|| *random.choose(&under)),
            relationships: random.one_in(3).then(|| *random.choose(&["knows", "contains"])),
            rights,
        }
    }

    fn grant(&self) -> (Grant, Vec<Right>) {
        let grant = Grant {
            entities: self.entities.0.parse().expect("a search"),
            under: self.under.map(id),
            relationships: self.relationships.into_iter().map(Into::into).collect(),
        };
        (grant, self.rights.clone())
    }

    fn what(&self) -> String {
        let Given { entities: (entities, _), under, relationships, rights } = self;
        format!("{entities} under {under:?}, {relationships:?}: {rights:?}")
    }

    /// True if it admits this content of an entity, where the entity is in `model`.
    fn admits(&self, model: &Model, age: Age, content: &Content) -> bool {
        let is_below = |root: Age| {
            let mut above =
                std::iter::successors(Some(age), |at| model.parent(*at).map(|(_, parent)| parent));
            above.any(|at| at == root)
        };
        let is_there = |under: &str| model.live(false, under).is_ok_and(is_below);
        (self.entities.1)(content) && self.under.is_none_or(is_there)
    }
}

impl Writer {
    pub fn any(random: &mut Random) -> Vec<Writer> {
        let one = |random: &mut Random| {
            let given: Vec<Given> = (0..=random.below(3)).map(|_| Given::any(random)).collect();
            let grants: Vec<_> = given.iter().map(Given::grant).collect();
            Writer { given, rights: Arc::new(Rights::new(&grants).expect("grants")) }
        };
        (0..WRITERS).map(|_| one(random)).collect()
    }

    pub(crate) fn what(&self) -> Vec<String> {
        self.given.iter().map(Given::what).collect()
    }

    /// The grants with a right; all grants to see.
    fn with(&self, right: Option<Right>) -> impl Iterator<Item = &Given> {
        self.given.iter().filter(move |given| right.is_none_or(|right| given.rights.contains(&right)))
    }

    fn admits(&self, right: Option<Right>, model: &Model, age: Age, content: &Content) -> bool {
        self.with(right).any(|given| given.admits(model, age, content))
    }

    fn admits_now(&self, right: Option<Right>, model: &Model, age: Age) -> bool {
        self.admits(right, model, age, model.all[&age].now())
    }

    /// True if an instance that the writer sees has these bytes.
    fn holds(&self, model: &Model, byte: u8) -> bool {
        let has = |known: &Known| known.now().fields.stored == Some(byte);
        model.all.iter().any(|(age, known)| has(known) && self.sees_now(model, *age))
    }

    fn admits_type(&self, right: Option<Right>, known: &Known) -> bool {
        self.with(right).any(|given| given.relationships.is_none_or(|name| name == known.now().type_name))
    }

    /// True if this content of an instance is visible, where its entities are in `model`.
    fn sees(&self, model: &Model, age: Age, content: &Content) -> bool {
        match content.ends {
            None => self.admits(None, model, age, content),
            Some(ends) => {
                self.admits_type(None, &model.all[&age])
                    && ends.into_iter().all(|end| self.admits_now(None, model, end))
            }
        }
    }

    fn sees_now(&self, model: &Model, age: Age) -> bool {
        self.sees(model, age, model.all[&age].now())
    }

    /// True if the writer knows an instance in a transaction on `base` that has led to `model` so far: it sees it in the
    /// base, or the transaction has created or restored it.
    fn knows(&self, base: &Model, model: &Model, age: Age) -> bool {
        match base.all.get(&age) {
            None => true,
            Some(known) => self.sees_now(base, age) || !known.now().is_live && self.sees_now(model, age),
        }
    }

    /// The ways to the containers of the grants: these, and everything above them, with the relationships between them.
    /// Without a name there is no path. `snapshot` is that of `base`; it tells which grants may admit something.
    fn ways(&self, base: &Model, snapshot: &Snapshot) -> BTreeSet<Age> {
        let mut ways = BTreeSet::new();
        for given in &self.given {
            let Some(container) = given.under.and_then(|under| base.live(false, under).ok()) else {
                continue;
            };
            let sight = Sight::new(vec![given.grant().0]).expect("a grant");
            let named = id(given.under.expect("it has one"));
            if !sight.leads_through(snapshot, &named).expect("an answer") {
                continue;
            }
            if !self.sees_now(base, container) {
                let inside = base.steps(container).into_iter();
                ways.extend(inside.filter(|(.., child)| self.sees_now(base, *child)).map(|(link, ..)| link));
            }
            let mut next = Some(container);
            while let Some(at) = next.filter(|at| ways.insert(*at)) {
                let above = base.parent(at);
                let above =
                    above.filter(|(link, parent)| base.steps(*parent).iter().any(|(step, ..)| step == link));
                ways.extend(above.map(|(link, _)| link));
                next = above.map(|(_, parent)| parent);
            }
        }
        ways
    }

    /// The part of `model` that the writer knows; of what leads to it only names.
    fn known_part(&self, base: &Model, model: &Model, ways: &BTreeSet<Age>) -> Model {
        let mut part = model.clone();
        part.all.retain(|age, known| {
            let knows = self.knows(base, model, *age);
            if !knows {
                let content = &mut known.versions.last_mut().expect("it has a version").content;
                let n = content.fields.n.filter(|_| content.type_name == "item");
                content.fields = Fields { n, ..Fields::default() };
            }
            knows || ways.contains(age) && known.now().is_live
        });
        // A relationship has both ends.
        let all: BTreeSet<Age> = part.all.keys().copied().collect();
        part.all
            .retain(|_, known| known.now().ends.is_none_or(|ends| ends.iter().all(|end| all.contains(end))));
        part
    }

    /// True if the writer may name what the change names, in a transaction on `base` that has led to `model` so far.
    fn may_name(&self, base: &Model, model: &Model, change: &Change) -> bool {
        let is_never = matches!(
            change,
            Change::Purge { .. }
                | Change::SaveCopy { .. }
                | Change::Rehome { .. }
                | Change::PurgeCopy { .. }
                | Change::Declare { .. }
        );
        let knows = |is_link: bool, id: &str| match model.find(is_link, id) {
            Some(age) => self.knows(base, model, age),
            // An upsert creates it. Others fail in the model.
            None => true,
        };
        let ends: Vec<&String> = match change {
            Change::Relate { from, to, .. } | Change::Contain { from, to, .. } => vec![from, to],
            Change::Relink { from, to, .. } => std::iter::once(from).chain(to).collect(),
            _ => Vec::new(),
        };
        let brings_back = match change {
            Change::Undo { is_link, id, of_content } => match model.find(*is_link, id) {
                Some(age) => self.may_undo(model, age, *of_content),
                None => true,
            },
            _ => true,
        };
        !is_never
            && change.named().is_none_or(|(is_link, id)| knows(is_link, id))
            && ends.iter().all(|end| knows(false, end))
            && brings_back
    }

    /// True if an undo brings nothing back that is hidden.
    fn may_undo(&self, model: &Model, age: Age, of_content: bool) -> bool {
        let versions = &model.all[&age].versions;
        let last = versions.last().expect("it has a version");
        let sees = |content: &Content| self.sees(model, age, content);
        match last.base.map(|base| &versions[base].content) {
            _ if of_content => true,
            Some(base) => !last.content.is_live || !base.is_live || sees(base),
            None => true,
        }
    }

    /// True if the writer may change what the record at `position` changes from `before` to `after`.
    fn may_change(&self, before: &Model, after: &Model, position: u64) -> bool {
        let is_touched = |known: &Known| known.versions.iter().any(|version| version.place.0 == position);
        let touched = after.all.iter().filter(|(_, known)| is_touched(known)).map(|(age, _)| *age);
        self.may_move(before, after)
            && touched.into_iter().all(|age| {
                let was_live = before.all.get(&age).is_some_and(|known| known.now().is_live);
                let is_live = after.all[&age].now().is_live;
                let (right, sides): (Right, &[&Model]) = match (was_live, is_live) {
                    (true, true) => (Right::Update, &[before, after]),
                    (true, false) => (Right::Delete, &[before]),
                    (false, _) => (Right::Create, &[after]),
                };
                let ends = |model: &Model| model.all.get(&age).and_then(|known| known.now().ends);
                let is_placing =
                    right != Right::Delete && ends(before) != ends(after) || right == Right::Create;
                sides.iter().all(|model| match ends(model) {
                    None => self.admits_now(Some(right), model, age),
                    Some(ends) => {
                        let known = &model.all[&age];
                        let deciding = if is_placing && known.contains() { &ends[..1] } else { &ends[..] };
                        self.sees_now(model, age)
                            && self.admits_type(Some(right), known)
                            && deciding.iter().any(|end| self.admits_now(Some(right), model, *end))
                    }
                })
            })
    }

    /// True if the writer may change, before and after, all that gets another place or id, and everything below it.
    fn may_move(&self, before: &Model, after: &Model) -> bool {
        let is_live = |model: &Model, age: &Age| model.all.get(age).is_some_and(|known| known.now().is_live);
        let are_live = |age: &Age| is_live(before, age) && is_live(after, age);
        let place = |model: &Model, age: Age| {
            (model.parent(age).map(|(_, parent)| parent), model.all[&age].now().id.clone())
        };
        let entities = after.all.iter().filter(|(age, known)| !known.is_link && are_live(age));
        let mut open: Vec<Age> =
            entities.map(|(age, _)| *age).filter(|age| place(before, *age) != place(after, *age)).collect();
        let mut moved = BTreeSet::new();
        while let Some(age) = open.pop() {
            if moved.insert(age) {
                open.extend(
                    [before, after].into_iter().flat_map(|model| model.children(age)).filter(are_live),
                );
            }
        }
        let may = |model: &Model, age: Age| self.admits_now(Some(Right::Update), model, age);
        moved.into_iter().all(|age| may(before, age) && may(after, age))
    }

    /// The part of `all` that the writer sees; `all` is that of `model` at some position, and now of `now`.
    fn part(&self, model: &Model, now: &Model, all: BTreeMap<Name, Seen>) -> BTreeMap<Name, Seen> {
        let is_visible = |age: &Age, known: &Known| match known.now().ends {
            None => self.sees_now(model, *age) && self.sees_now(now, *age),
            Some(ends) => {
                let are_seen = |model: &Model| ends.into_iter().all(|end| self.admits_now(None, model, end));
                self.admits_type(None, known) && are_seen(model) && are_seen(now)
            }
        };
        let name = |known: &Known| (known.is_link, known.birth, known.now().id.clone());
        let visible: BTreeSet<Name> = model
            .all
            .iter()
            .filter(|(age, known)| is_visible(age, known))
            .map(|(_, known)| name(known))
            .collect();
        all.into_iter().filter(|(name, _)| visible.contains(name)).collect()
    }
}

impl World {
    /// A transaction of a writer with grants, and its reads.
    pub(crate) fn work_with_grants(&mut self) {
        let number = self.random.below(WRITERS);
        let mut writers = std::mem::take(&mut self.writers);
        if self.random.one_in(16) {
            writers = Writer::any(&mut self.random);
        }
        match self.random.below(8) {
            0 => self.revert_with_grants(&writers[number]),
            1 | 2 => self.commit_with_grants_later(&writers[number]),
            _ => self.commit_with_grants(&writers[number]),
        }
        self.check_reads(&writers[number]);
        self.writers = writers;
    }

    fn commit_with_grants(&mut self, writer: &Writer) {
        let position = self.position() + 1;
        let (mut works, mut allowed, has_sent) = (Vec::new(), None, !self.random.one_in(3));
        for _ in 0..CHOICES {
            works = self.any_works();
            works.retain(|work| self.is_sure(writer, work));
            allowed = self.allowed(writer, position, &works, has_sent);
            // Mostly changes that only grants can refuse.
            let made = self.model.clone().attempt(position, &works, &mut self.count);
            if made.is_ok_and(|made| !made.is_empty()) || self.random.one_in(CHOICES) {
                break;
            }
        }
        self.history.push(format!("{position}: with {:?}: {works:?}", writer.what()));
        let stored = self.stored(&works);
        let found = self.repository().transact(|t| {
            t.limit_to(&writer.rights)?;
            let sent = stored.iter().flat_map(|(_, contents)| contents).filter(|_| has_sent);
            sent.for_each(|content| t.allow_content(content));
            push_all(t, &stored)?;
            let view = of_snapshot(self.repository(), t.view()?);
            Ok(view)
        });
        let Some((mut next, changes)) = allowed else {
            assert!(found.is_err() && self.position() + 1 == position, "{found:?}: {}", self.what());
            return;
        };
        let (view, _) = found.unwrap_or_else(|error| panic!("{error}: {}", self.what()));
        // A restored item of a tree may have been deleted before its id could be seen.
        next.learn_ids(&of_snapshot(self.repository(), &self.repository().snapshot()));
        let expected = writer.part(&next, &next, of_model(&next, u64::MAX, &next));
        assert_eq!(with_births(view, position), expected, "the view of the transaction: {}", self.what());
        if changes.is_empty() {
            assert_eq!(self.position() + 1, position, "{}", self.what());
        } else {
            self.accept(next, &changes);
        }
    }

    /// A transaction of a writer that is committed when others have changed something: what its grants admitted then is
    /// not committed if they do not admit it now.
    fn commit_with_grants_later(&mut self, writer: &Writer) {
        let mut works = self.any_works();
        // Others, which depend on what was there before, are planned when they are added.
        let is_plain = |work: &Work| matches!(work, Work::Direct(change) if !change.is_planned());
        works.retain(is_plain);
        let stored = self.stored(&works);
        let mut transaction = self.repository().transaction();
        let begun = transaction.limit_to(&writer.rights).and_then(|()| {
            stored
                .iter()
                .flat_map(|(_, contents)| contents)
                .for_each(|content| transaction.allow_content(content));
            push_all(&mut transaction, &stored)
        });
        let made = self.model.clone().attempt(self.position() + 1, &works, &mut self.count);
        if begun.is_err() || made.is_ok_and(|made| made.len() < works.len()) {
            return;
        }
        let others = self.any_works();
        self.commit_all(others);
        let position = self.position() + 1;
        let allowed = self.allowed(writer, position, &works, true);
        let outcome = transaction.commit().map(drop).map_err(|error| error.kind());
        self.history.push(format!("{position}: later, with {:?}: {works:?}: {outcome:?}", writer.what()));
        match (outcome, allowed) {
            (Ok(()), Some((next, changes))) if !changes.is_empty() => self.accept(next, &changes),
            (Ok(()), None) => panic!("expected a refusal: {}", self.what()),
            _ => assert_eq!(self.position() + 1, position, "{}", self.what()),
        }
    }

    /// False for an undo of a relationship, and of the content of an entity that had hidden versions: it takes the last other one that is visible.
    fn is_sure(&self, writer: &Writer, work: &Work) -> bool {
        let Work::Direct(Change::Undo { is_link, id, of_content }) = work else { return true };
        // An older version of a relationship is hidden if an end was hidden then.
        if *is_link || !of_content {
            return !is_link;
        }
        let Some(age) = self.model.find(*is_link, id) else { return true };
        self.model.all[&age].versions.iter().all(|version| writer.sees(&self.model, age, &version.content))
    }

    /// The model after a transaction, and its changes; `None` if it is refused. Without `has_sent` it names contents by
    /// their digests only.
    fn allowed(
        &mut self,
        writer: &Writer,
        position: u64,
        works: &[Work],
        has_sent: bool,
    ) -> Option<(Model, Vec<Change>)> {
        let ways = writer.ways(&self.model, &self.repository().snapshot());
        let base = &self.model;
        let (mut next, mut made, mut at) = (base.clone(), Vec::new(), 0);
        for work in works {
            let changes = match work {
                Work::Direct(change) if !writer.may_name(base, &next, change) => return None,
                Work::Direct(change) => vec![change.clone()],
                Work::Tree(edit) => {
                    let changes =
                        writer.known_part(base, &next, &ways).planned(edit, &mut self.count).ok()?;
                    // A way stays as it is, also if the change would write what it has.
                    let is_way = |(is_link, id): (bool, &str)| {
                        let age = next.find(is_link, id).filter(|age| ways.contains(age));
                        age.is_some_and(|age| !writer.knows(base, &next, age))
                    };
                    if changes.iter().filter_map(Change::named).any(is_way) {
                        return None;
                    }
                    changes
                }
            };
            for change in changes {
                if matches!(change, Change::Store { byte, .. } if !has_sent && !writer.holds(base, byte)) {
                    return None;
                }
                let place: Place = (position, at);
                if next.apply(place, &change).ok()? {
                    made.push(change);
                }
                at += 1;
            }
        }
        next.check_end(position).ok()?;
        writer.may_change(base, &next, position).then_some((next, made))
    }

    /// A writer reads what its grants admit, now and at an earlier position.
    fn check_reads(&mut self, writer: &Writer) {
        let snapshot = self.repository().snapshot().seen_by(writer.rights.sight()).expect("a sight");
        let expected = writer.part(&self.model, &self.model, of_model(&self.model, u64::MAX, &self.model));
        assert_eq!(
            of_snapshot(self.repository(), &snapshot),
            expected,
            "{:?}: {}",
            writer.what(),
            self.what()
        );
        let all: Vec<u64> = self.past.keys().copied().collect();
        let position = *self.random.choose(&all);
        let then = snapshot.as_of(AsOf { position: Some(Position(position)), ..AsOf::default() });
        let mut model = self.past[&position].clone();
        // Instances that were purged since are in no state of the past.
        model.all.retain(|age, _| self.model.all.contains_key(age));
        let expected = writer.part(&model, &self.model, of_model(&model, position, &self.model));
        let found = of_snapshot(self.repository(), &then.expect("a position that there was"));
        assert_eq!(found, expected, "{:?} as of {position}: {}", writer.what(), self.what());
    }
}

/// The view of a transaction, whose own instances have no birth yet.
fn with_births(view: BTreeMap<Name, Seen>, position: u64) -> BTreeMap<Name, Seen> {
    let born = |birth: u64| if birth == 0 { position } else { birth };
    let all = view.into_iter().map(|((is_link, birth, id), mut seen)| {
        seen.ends.iter_mut().flatten().for_each(|(birth, _)| *birth = born(*birth));
        ((is_link, born(birth), id), seen)
    });
    all.collect()
}
