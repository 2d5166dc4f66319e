//! The log against a plain model: random histories, every filter, both orders, pages of any size, before and after compaction.

use annals::action;
use std::collections::{BTreeMap, BTreeSet};

use annals::*;

use crate::support::named::{entity, id};
use crate::support::{CheckedRepository, Random, fresh_seed, number_from_environment};

/// Where the clock begins. Units: microseconds since 1970.
const START: i64 = 1_600_000_000_000_000;
const AUTHORS: [&str; 3] = ["", "ada", "bob"];
const TYPES: [&str; 3] = ["person", "employee", "table"];

/// An instance in the model. An id that is free again names another one, with another number.
#[derive(Clone, Default)]
struct Known {
    number: usize,
    type_name: &'static str,
    ends: Option<[String; 2]>,
    properties: BTreeMap<&'static str, i64>,
    is_gold: bool,
    is_live: bool,
    versions: u32,
    // The entity that it was deleted with.
    went_with: Option<String>,
}

/// A change that the log should show.
#[derive(Clone)]
struct Entry {
    position: u64,
    verb: &'static str,
    kind: TypeKind,
    id: String,
    number: usize,
    type_name: &'static str,
    is_about_gold: bool,
    version: u32,
    differences: String,
    taken_along: Vec<(usize, String)>,
}

#[derive(Default)]
struct Model {
    entities: BTreeMap<String, Known>,
    relationships: BTreeMap<String, Known>,
    // Author and instant by position.
    records: BTreeMap<u64, (&'static str, i64)>,
    entries: Vec<Entry>,
    numbers_count: usize,
}

fn option(value: Option<i64>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

impl Model {
    fn table(&mut self, kind: TypeKind) -> &mut BTreeMap<String, Known> {
        if kind == TypeKind::Entity { &mut self.entities } else { &mut self.relationships }
    }

    fn create(&mut self, position: u64, kind: TypeKind, id: &str, new: Known) {
        self.numbers_count += 1;
        let number = self.numbers_count;
        let known = Known { number, is_live: true, ..Known::default() };
        let known = Known { type_name: new.type_name, ends: new.ends.clone(), ..known };
        self.table(kind).insert(id.to_owned(), known);
        self.change(position, "create", kind, id, |known| {
            known.properties = new.properties;
            known.is_gold = new.is_gold;
        });
    }

    fn change(
        &mut self,
        position: u64,
        verb: &'static str,
        kind: TypeKind,
        id: &str,
        change: impl FnOnce(&mut Known),
    ) {
        let known = self.table(kind).get_mut(id).unwrap();
        let before = known.clone();
        change(known);
        known.versions += 1;
        let after = known.clone();
        let names: BTreeSet<_> = before.properties.keys().chain(after.properties.keys()).collect();
        let sides =
            names.into_iter().map(|name| (name, before.properties.get(name), after.properties.get(name)));
        let differing = sides.filter(|(_, before, after)| before != after);
        let mut differences: Vec<String> = differing
            .map(|(name, before, after)| {
                format!("{name} {}>{}", option(before.copied()), option(after.copied()))
            })
            .collect();
        if before.is_gold != after.is_gold {
            differences.push(format!("gold {}>{}", before.is_gold, after.is_gold));
        }
        if before.is_live != after.is_live {
            differences.push(format!("live {}>{}", before.is_live, after.is_live));
        }
        self.entries.push(Entry {
            position,
            verb,
            kind,
            id: id.to_owned(),
            number: after.number,
            type_name: after.type_name,
            is_about_gold: before.is_gold != after.is_gold,
            version: after.versions,
            differences: differences.join(", "),
            taken_along: Vec::new(),
        });
    }

    /// Ids of relationships that an entity has and that `is_meant`.
    fn linked(&self, entity: &str, is_meant: impl Fn(&Known) -> bool) -> Vec<String> {
        let is_linked = |known: &Known| known.ends.as_ref().unwrap().iter().any(|end| end == entity);
        let meant = self.relationships.iter().filter(|(_, known)| is_linked(known) && is_meant(known));
        meant.map(|(id, _)| id.clone()).collect()
    }

    fn take_along(&mut self, relationships: Vec<String>, is_live: bool, went_with: Option<&str>) {
        let mut taken = Vec::new();
        for id in relationships {
            let known = self.relationships.get_mut(&id).unwrap();
            known.is_live = is_live;
            known.went_with = went_with.map(str::to_owned);
            known.versions += 1;
            taken.push((known.number, id));
        }
        self.entries.last_mut().unwrap().taken_along = taken;
    }

    fn forget(&mut self, kind: TypeKind, id: &str) {
        let number = self.table(kind).remove(id).unwrap().number;
        self.entries.retain(|entry| entry.number != number);
        for entry in &mut self.entries {
            entry.taken_along.retain(|(taken, _)| *taken != number);
        }
    }
}

/// The expected log: by record its position, its author, and its changes as texts.
type Shown = Vec<(u64, String, Vec<String>)>;

fn expected(model: &Model, query: &LogQuery) -> Shown {
    let subtypes: &[&str] = match query.type_name.as_deref() {
        Some("person") => &["person", "employee"],
        Some("employee") => &["employee"],
        Some("table") => &["table"],
        Some("knows") => &["knows"],
        _ => &[],
    };
    let is_shown = |entry: &Entry| {
        let has_id = |id: &Id| {
            let is_named =
                query.kind.is_none_or(|kind| kind == entry.kind || kind == TypeKind::Classification);
            let is_own = is_named && Some(&*entry.id) == id.text();
            let may_take = query.kind.is_none_or(|kind| kind == TypeKind::Relationship);
            is_own || may_take && entry.taken_along.iter().any(|(_, taken)| Some(&**taken) == id.text())
        };
        let is_of_type = |name: &str| {
            let own = subtypes.contains(&entry.type_name) && query.kind.is_none_or(|kind| kind == entry.kind);
            let is_gold = name == "gold" && entry.is_about_gold;
            own || is_gold && query.kind.is_none_or(|kind| kind == TypeKind::Classification)
        };
        query.verb.as_deref().is_none_or(|verb| verb == entry.verb)
            && query.kind.is_none_or(|kind| match kind {
                TypeKind::Classification => entry.is_about_gold,
                kind => kind == entry.kind,
            })
            && query.id.as_ref().is_none_or(has_id)
            && query.type_name.as_deref().is_none_or(is_of_type)
    };
    let is_of_changes =
        query.id.is_some() || query.type_name.is_some() || query.kind.is_some() || query.verb.is_some();
    let mut shown = Shown::new();
    for (position, (author, instant)) in &model.records {
        let is_within = query.since.is_none_or(|since| *instant >= since.micros())
            && query.until.is_none_or(|until| *instant < until.micros());
        if !is_within || query.author.as_deref().is_some_and(|wanted| wanted != *author) {
            continue;
        }
        let is_declared = |name: &&str| {
            *position == 1
                && query.id.is_none()
                && query.verb.as_deref().is_none_or(|verb| verb == "define-type")
                && query.kind.is_none_or(|kind| kind == TypeKind::Entity)
                && (query.type_name.is_none() || subtypes.contains(name))
        };
        let declared =
            ["person", "employee"].into_iter().filter(is_declared).map(|_| "define-type".to_owned());
        let entries = model.entries.iter().filter(|entry| entry.position == *position && is_shown(entry));
        let changes: Vec<String> = declared
            .chain(entries.map(|entry| {
                let Entry { verb, kind, id, type_name, version, differences, taken_along, .. } = entry;
                let count = taken_along.len();
                format!("{verb} {} {id} {type_name} {version} [{differences}] {count}", kind.name())
            }))
            .collect();
        if !changes.is_empty() || !is_of_changes {
            shown.push((*position, (*author).to_owned(), changes));
        }
    }
    if !query.is_oldest_first {
        shown.reverse();
    }
    shown
}

fn shown_change(change: &LoggedChange) -> String {
    let LoggedChange::Instance(change) = change else { return change.verb().to_owned() };
    let integer = |value: &Option<Value>| option(value.as_ref().map(|value| value.as_integer().unwrap()));
    let difference = &change.difference;
    let mut differences: Vec<String> = difference
        .properties
        .iter()
        .map(|known| format!("{} {}>{}", known.name, integer(&known.before), integer(&known.after)))
        .collect();
    for known in &difference.classifications {
        differences.push(format!("{} {}>{}", known.name, known.was_there, known.is_there));
    }
    if let Some((before, after)) = &difference.status {
        differences.push(format!("live {}>{}", **before != *"deleted", **after != *"deleted"));
    }
    let LoggedInstance { verb, id, type_name, version, relationships_count, .. } = &**change;
    format!("{verb} {id} {type_name} {version} [{}] {relationships_count}", differences.join(", "))
}

/// All pages, put together again; each record comes in the order asked for, with its changes exactly once.
fn all_pages(repository: &Repository, query: &LogQuery) -> Result<Shown> {
    let mut shown = Shown::new();
    let mut query = query.clone();
    loop {
        let page = repository.snapshot().log(&query)?;
        assert!(page.records.len() <= query.limit);
        for record in page.records {
            let changes: Vec<String> = record.changes.iter().map(shown_change).collect();
            match shown.last_mut() {
                Some((position, _, known)) if *position == record.position.0 => known.extend(changes),
                _ => shown.push((record.position.0, record.author.to_string(), changes)),
            }
        }
        let Some(next) = page.next else { return Ok(shown) };
        // As a client sends it back.
        query.after = Some(next.to_string().parse().unwrap());
    }
}

fn random_query(random: &mut Random, model: &Model, ids: &[String]) -> LogQuery {
    let instants: Vec<i64> = model.records.values().map(|(_, instant)| *instant).collect();
    let instant = |random: &mut Random| {
        let micros = *random.choose(&instants) + random.below(2) as i64;
        Some(Instant::from_micros(micros).unwrap())
    };
    let kinds = [TypeKind::Entity, TypeKind::Relationship, TypeKind::Classification];
    let mut query = LogQuery {
        author: random.one_in(3).then(|| (*random.choose(&AUTHORS)).into()),
        type_name: random
            .one_in(3)
            .then(|| (*random.choose(&["person", "employee", "table", "knows", "gold", "no"])).into()),
        id: random.one_in(3).then(|| id(random.choose::<String>(ids))),
        kind: random.one_in(3).then(|| *random.choose(&kinds)),
        verb: random.one_in(4).then(|| {
            (*random.choose(&["create", "update", "delete", "restore", "classify", "define-type"])).into()
        }),
        since: if random.one_in(3) { instant(random) } else { None },
        until: if random.one_in(3) { instant(random) } else { None },
        is_oldest_first: random.one_in(2),
        after: None,
        limit: *random.choose(&[1, 2, 7, 1_000]),
        bytes_max: *random.choose(&[1, 50, 1 << 20]),
    };
    if let (Some(since), Some(until)) = (query.since, query.until)
        && since > until
    {
        (query.since, query.until) = (Some(until), Some(since));
    }
    query
}

/// One random change on both sides; false if there is nothing that it could change.
fn step(t: &mut Transaction, model: &mut Model, random: &mut Random, position: u64) -> Result<bool> {
    let live: Vec<String> =
        model.entities.iter().filter(|(_, e)| e.is_live).map(|(id, _)| id.clone()).collect();
    let dead: Vec<String> =
        model.entities.iter().filter(|(_, e)| !e.is_live).map(|(id, _)| id.clone()).collect();
    let links: Vec<String> =
        model.relationships.iter().filter(|(_, r)| r.is_live).map(|(id, _)| id.clone()).collect();
    let number = random.below(100) as i64;
    let (one, other) = (TypeKind::Entity, TypeKind::Relationship);
    match random.below(12) {
        0..=2 => {
            let name = format!("e{}", random.below(8));
            if model.entities.contains_key(&name) {
                return Ok(false);
            }
            let (type_name, is_gold) = (*random.choose(&TYPES), random.one_in(3));
            let mut new = NewEntity::new(type_name).id(&name)?.property("n", number);
            if is_gold {
                new.classifications.push(ClassificationContent::new("gold"));
            }
            t.create_entity(new)?;
            let properties = BTreeMap::from([("n", number)]);
            let known = Known { type_name, is_gold, properties, ..Known::default() };
            model.create(position, one, &name, known);
        }
        3 | 4 if !live.is_empty() => {
            let (from, to) = (random.choose(&live).clone(), random.choose(&live).clone());
            let name = format!("r{}", random.below(8));
            if model.relationships.contains_key(&name) {
                return Ok(false);
            }
            let new = NewRelationship::new("knows", id(&from), id(&to));
            t.create_relationship(NewRelationship { id: id(&name), ..new }.property("n", number))?;
            let properties = BTreeMap::from([("n", number)]);
            let known = Known { type_name: "knows", ends: Some([from, to]), properties, ..Known::default() };
            model.create(position, other, &name, known);
        }
        5 | 6 if !live.is_empty() => {
            let name = random.choose(&live);
            let property = *random.choose(&["n", "m"]);
            t.update(&entity(name), Patch::new().set(property, number))?;
            model.change(position, "update", one, name, |known| {
                known.properties.insert(property, number);
            });
        }
        7 if !live.is_empty() => {
            let name = random.choose(&live);
            if model.entities[name].is_gold {
                t.declassify(&id(name), "gold")?;
                model.change(position, "declassify", one, name, |known| known.is_gold = false);
            } else {
                t.classify(&id(name), ClassificationContent::new("gold"))?;
                model.change(position, "classify", one, name, |known| known.is_gold = true);
            }
        }
        8 if !live.is_empty() => {
            let name = random.choose(&live);
            t.delete(&entity(name))?;
            model.change(position, "delete", one, name, |known| known.is_live = false);
            let taken = model.linked(name, |known| known.is_live);
            model.take_along(taken, false, Some(name));
        }
        9 if !dead.is_empty() => {
            let name = random.choose(&dead);
            t.restore(&entity(name))?;
            model.change(position, "restore", one, name, |known| known.is_live = true);
            let entities = model.entities.clone();
            let are_live =
                |known: &Known| known.ends.as_ref().unwrap().iter().all(|end| entities[end].is_live);
            let taken = model.linked(name, |known| known.went_with.as_ref() == Some(name) && are_live(known));
            model.take_along(taken, true, None);
            // A relationship that could not come back with it now does not come back with it later.
            for known in
                model.relationships.values_mut().filter(|known| known.went_with.as_ref() == Some(name))
            {
                known.went_with = None;
            }
        }
        10 if !links.is_empty() => {
            let name = random.choose(&links);
            t.delete(&InstanceId::Relationship(id(name)))?;
            model.change(position, "delete", other, name, |known| known.is_live = false);
        }
        11 if random.one_in(3) && !model.entities.is_empty() => {
            let names: Vec<String> = model.entities.keys().cloned().collect();
            let name = random.choose(&names);
            t.purge(&entity(name))?;
            for link in model.linked(name, |_| true) {
                model.forget(other, &link);
            }
            model.forget(one, name);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn compare(repository: &Repository, model: &Model, random: &mut Random, count: usize) {
    let mut ids: Vec<String> = model.entities.keys().chain(model.relationships.keys()).cloned().collect();
    ids.push("unknown".to_owned());
    for _ in 0..count {
        let query = random_query(random, model, &ids);
        let is_known = query.id.as_ref().and_then(Id::text).is_none_or(|id| match query.kind {
            Some(TypeKind::Relationship) => model.relationships.contains_key(id),
            Some(_) => model.entities.contains_key(id),
            None => id != "unknown",
        });
        match all_pages(repository, &query) {
            Ok(shown) => assert_eq!((is_known, shown), (true, expected(model, &query)), "{query:?}"),
            Err(error) => {
                assert_eq!((is_known, error.kind()), (false, ErrorKind::NotFound), "{query:?}: {error}")
            }
        }
    }
}

#[test]
fn every_filter_shows_what_a_plain_model_says_also_after_a_compaction() {
    for _ in 0..8 {
        let seed = number_from_environment("ANNALS_LOGGED_SEED", fresh_seed());
        println!("seed {seed}");
        let mut random = Random(seed);
        let folder = tempfile::tempdir().unwrap();
        // Pages go over the ends of segments, too.
        let segment_bytes = *random.choose(&[4096, 1 << 20]);
        let options = Options { segment_bytes, ..Options::default() };
        let repository = CheckedRepository::open_with(folder.path().join("repository"), options);
        let mut employee = TypeDefinition::entity("employee");
        employee.supertypes.push("person".into());
        let start = Instant::from_micros(START).unwrap();
        let types = vec![TypeDefinition::entity("person"), employee];
        repository
            .transact(|t| {
                t.committed_at(start);
                t.define_types(types.clone())
            })
            .unwrap();
        let mut model = Model::default();
        model.records.insert(1, ("", START));
        let mut clock = START;
        for position in 2..60u64 {
            clock += random.below(3) as i64;
            let author = *random.choose(&AUTHORS);
            let mut transaction = repository.transaction();
            transaction.author(author).committed_at(Instant::from_micros(clock).unwrap()).always(true);
            let mut steps = 1 + random.below(4);
            while steps > 0 {
                if step(&mut transaction, &mut model, &mut random, position).unwrap() {
                    steps -= 1;
                }
            }
            assert_eq!(transaction.commit().unwrap().position, Position(position));
            model.records.insert(position, (author, clock));
        }
        compare(&repository, &model, &mut random, 50);
        repository.compact().unwrap();
        compare(&repository, &model, &mut random, 50);
    }
}

fn one(repository: &Repository, query: &LogQuery) -> LoggedInstance {
    let page = repository.snapshot().log(query).unwrap();
    let [LoggedChange::Instance(change)] = &page.records[0].changes[..] else { panic!("{page:?}") };
    LoggedInstance::clone(change)
}

#[test]
fn an_id_leads_to_the_changes_under_every_id_that_an_instance_had() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("old")?).map(drop)).unwrap();
    repository.transact(|t| t.reidentify(&entity("old"), &id("new"))).unwrap();
    for name in ["old", "new"] {
        let query = LogQuery { id: Some(id(name)), ..LogQuery::default() };
        let records = repository.snapshot().log(&query).unwrap().records;
        assert_eq!(records.iter().map(|record| record.position.0).collect::<Vec<_>>(), [2, 1], "{name}");
    }
    let change = one(&repository, &LogQuery::default());
    assert_eq!((change.id, change.difference.id), (entity("new"), Some((id("old"), id("new")))));
}

#[test]
fn a_correction_is_compared_with_the_version_that_it_corrects() {
    let repository = CheckedRepository::in_memory();
    let day = |text: &str| Some(text.parse::<Instant>().unwrap());
    for (from, n) in [("2020-01-01", 1), ("2022-01-01", 2), ("2021-01-01", 3)] {
        let change = |t: &mut Transaction| {
            t.valid_from(day(from));
            if n == 1 {
                return t.create_entity(NewEntity::new("t").id("a")?.property("n", n)).map(drop);
            }
            t.update(&entity("a"), Patch::new().set("n", n))
        };
        repository.transact(change).unwrap();
    }
    let change = one(&repository, &LogQuery::default());
    assert_eq!((change.version, change.base, Some(change.valid_from)), (3, 1, day("2021-01-01")));
    let [difference] = &change.difference.properties[..] else { panic!("{change:?}") };
    assert_eq!((&difference.before, &difference.after), (&Some(1.into()), &Some(3.into())));
}

#[test]
fn what_is_replaced_is_found_by_the_classification_that_it_lost() {
    let repository = CheckedRepository::in_memory();
    let gold = || ClassificationContent::new("gold");
    repository
        .transact(|t| {
            t.create_entity(NewEntity::new("t").id("a")?)?;
            t.classify(&id("a"), gold())
        })
        .unwrap();
    repository
        .transact(|t| {
            t.push_action(Action::Replace(action::Replace {
                instance: entity("a"),
                properties: Vec::new(),
                classifications: Some(Vec::new()),
                provenance: None,
            }))
        })
        .unwrap();
    let change = one(&repository, &LogQuery { type_name: Some("gold".into()), ..LogQuery::default() });
    assert_eq!(change.verb, "replace");
    assert!(change.difference.classifications[0].was_there);
}

/// A page holds a bounded number of changes, however many a record has.
#[test]
fn a_record_of_many_changes_goes_on_on_the_next_page() {
    let repository = CheckedRepository::in_memory();
    let create = |t: &mut Transaction| -> Result<()> {
        for number in 0..25_000 {
            t.create_entity(NewEntity::new("t").id(&format!("e{number}"))?)?;
        }
        Ok(())
    };
    repository.transact(create).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("last")?).map(drop)).unwrap();
    for is_oldest_first in [false, true] {
        let query = LogQuery { is_oldest_first, ..LogQuery::default() };
        let page = repository.snapshot().log(&query).unwrap();
        let next = page.next.unwrap().to_string();
        assert_eq!(next, if is_oldest_first { "1-10000" } else { "1-9999" });
        let counts: Vec<usize> =
            all_pages(&repository, &query).unwrap().iter().map(|(_, _, changes)| changes.len()).collect();
        assert_eq!(counts, if is_oldest_first { [25_000, 1] } else { [1, 25_000] });
    }
}

/// A filter that nothing fulfils must not read the whole log in one call.
#[test]
fn a_page_looks_at_a_bounded_part_of_the_log() {
    let repository = CheckedRepository::in_memory();
    let large = "x".repeat(3 << 20);
    for number in 0..30 {
        let new = NewEntity::new("t").id(&format!("e{number}")).unwrap().property("text", &*large);
        repository.transact(|t| t.create_entity(new.clone()).map(drop)).unwrap();
    }
    for (is_oldest_first, next) in [(false, 9), (true, 22)] {
        let query = LogQuery { author: Some("nobody".into()), is_oldest_first, ..LogQuery::default() };
        let page = repository.snapshot().log(&query).unwrap();
        assert_eq!(page.records, []);
        assert_eq!(page.next, Some(LogPlace { position: Position(next), changes: None }));
        assert_eq!(all_pages(&repository, &query).unwrap(), []);
    }
}

#[test]
fn what_cannot_be_asked_for_is_refused_and_what_was_called_off_ends() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("a")?).map(drop)).unwrap();
    let snapshot = repository.snapshot();
    let refused = |query: LogQuery| snapshot.log(&query).unwrap_err().kind();
    assert_eq!(refused(LogQuery { limit: 0, ..LogQuery::default() }), ErrorKind::InvalidPage);
    assert_eq!(
        refused(LogQuery { verb: Some("purge".into()), ..LogQuery::default() }),
        ErrorKind::InvalidArgument
    );
    let (since, until) = ("2021-01-01".parse().ok(), "2020-01-01".parse().ok());
    assert_eq!(refused(LogQuery { since, until, ..LogQuery::default() }), ErrorKind::InvalidArgument);
    let cancel = Cancel::new();
    cancel.cancel();
    let outcome = snapshot.cancelled_by(&cancel).log(&LogQuery::default());
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
}

/// The log shows nothing that a transaction has written and not committed.
#[test]
fn a_view_of_a_transaction_lists_what_is_committed() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("a")?).map(drop)).unwrap();
    let mut transaction = repository.transaction();
    transaction.update(&entity("a"), Patch::new().set("n", 1)).unwrap();
    let records = transaction.view().unwrap().log(&LogQuery::default()).unwrap().records;
    assert_eq!(records.iter().map(|record| record.position).collect::<Vec<_>>(), [Position(1)]);
}
