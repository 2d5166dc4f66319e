//! Random searches, each by every plan, compared with looking at everything.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use annals::*;

use super::operations::{CLASSIFICATIONS, ENTITY_TYPES, Generator, HOMES, RELATIONSHIP_TYPES};
use super::reference::{Classified, Image, Known, Properties, Reference, Version, View};
use super::search_order::{order_in_index, order_of, text_of};

/// No search has more plans.
const PLANS_MAX: usize = 64;

/// An instance as the model has it.
#[derive(Clone, Copy, Debug)]
struct Seen<'m> {
    id: &'m Id,
    known: &'m Known,
    version: &'m Version,
}

/// Runs one random search by every plan, page by page, and compares it with looking at everything.
pub fn compare_search(snapshot: &Snapshot, model: &Reference, view: View, generator: &mut Generator) {
    let kind = if generator.random.one_in(4) { TypeKind::Relationship } else { TypeKind::Entity };
    let find = random_find(model, generator, kind);
    let text = find.to_string();
    // By their texts, because there are several NaN.
    assert_eq!(Find::parse(&text).unwrap_or_else(|error| panic!("{error}")).to_string(), text);
    let mut expected: Vec<Seen> = Vec::new();
    for known in model.table(kind).values() {
        let Some(version) = known.seen(view) else { continue };
        if version.shape.is_proxy && !find.with_proxies {
            continue;
        }
        let asks_deleted = find.statuses.iter().any(|name| **name == *"deleted");
        let is_live_right = match find.deleted {
            Deleted::Without => asks_deleted || version.status == Status::Active,
            Deleted::With => true,
            Deleted::Only => version.status == Status::Deleted,
        };
        let status = if version.status == Status::Deleted { "deleted" } else { &version.shape.status_name };
        let is_status_right =
            is_live_right && (find.statuses.is_empty() || find.statuses.iter().any(|name| **name == *status));
        let seen = Seen { id: &version.shape.id, known, version };
        let is_of = |name: &std::sync::Arc<str>| is_of(model, kind, seen, name, view);
        let is_of_type = (find.types.is_empty() || find.types.iter().any(is_of))
            && (find.subtypes.is_empty()
                || find.subtypes.iter().any(|name| **name == *version.shape.type_name));
        if is_status_right && is_of_type && holds(model, kind, seen, view, &find.filter) {
            expected.push(seen);
        }
    }
    let count = match kind {
        TypeKind::Entity => snapshot.count_entities(&find),
        _ => snapshot.count_relationships(&find),
    };
    if let Some(name) = count.as_ref().err().and_then(unknown_property) {
        assert!(!has_property(model, &name, view), "{text}: {name} is known");
        return;
    }
    assert_eq!(
        count.unwrap_or_else(|error| panic!("{text} in {view:?}: {error}")),
        expected.len() as u64,
        "{kind:?} {text} in {view:?}: {:?}",
        expected.iter().map(|seen| (seen.id, seen.known)).collect::<Vec<_>>()
    );
    let found = read_pages(snapshot, kind, &find, None, generator)
        .unwrap_or_else(|error| panic!("{text} in {view:?}: {error}"))
        .expect("the best plan is always there");
    let mut ids: Vec<&Id> = found.iter().collect();
    ids.sort();
    let mut expected_ids: Vec<&Id> = expected.iter().map(|seen| seen.id).collect();
    expected_ids.sort();
    assert_eq!(ids, expected_ids, "{kind:?} {text} in {view:?}");
    let seen = |id: &Id| *expected.iter().find(|seen| seen.id == id).expect("compared above");
    for pair in found.windows(2) {
        let order = order_of_search(&find, seen(&pair[0]), seen(&pair[1]));
        assert!(
            order.is_le(),
            "{text} in {view:?}: {} stands before {}: {:?}",
            pair[0],
            pair[1],
            [seen(&pair[0]), seen(&pair[1])]
        );
    }
    for plan in 0..PLANS_MAX {
        let Some(by_plan) = read_pages(snapshot, kind, &find, Some(plan), generator)
            .unwrap_or_else(|error| panic!("{text} by plan {plan} in {view:?}: {error}"))
        else {
            return;
        };
        assert_eq!(by_plan, found, "{kind:?} {text} by plan {plan} in {view:?}");
    }
}

/// The property that a search was refused for, because nothing ever had it.
fn unknown_property(error: &Error) -> Option<String> {
    let is_it = error.kind() == ErrorKind::NotFound && error.text().starts_with("property ");
    is_it.then(|| error.text().split('"').nth(1).expect("the name is quoted").to_owned())
}

fn has_property(model: &Reference, name: &str, view: View) -> bool {
    let known = model.entities.values().chain(model.relationships.values());
    let versions = known.flat_map(|known| &known.versions);
    versions.filter(|version| version.position <= view.position).any(|version| {
        let classified = version.image.classifications.values();
        version.image.properties.contains_key(name)
            || classified.into_iter().any(|known| known.properties.contains_key(name))
    })
}

fn is_of(model: &Reference, kind: TypeKind, seen: Seen, name: &str, view: View) -> bool {
    model.with_subtypes(kind, name, view.position).contains(&seen.version.shape.type_name)
}

fn random_find(model: &Reference, generator: &mut Generator, kind: TypeKind) -> Find {
    // A status that nothing ever had is refused.
    let versions = [&model.entities, &model.relationships].into_iter().flat_map(BTreeMap::values);
    let mut statuses: Vec<&str> = versions
        .flat_map(|known| &known.versions)
        .map(|version| version.shape.status_name.as_str())
        .chain(["active", "deleted"])
        .collect();
    statuses.sort_unstable();
    statuses.dedup();
    let types = if kind == TypeKind::Entity { ENTITY_TYPES } else { RELATIONSHIP_TYPES };
    let mut find = Find::all();
    if generator.random.one_in(2) {
        find.types = vec![(*generator.random.choose(&types)).into()];
        if generator.random.one_in(4) {
            find.types.push((*generator.random.choose(&types)).into());
        }
    }
    if generator.random.one_in(6) {
        find.deleted = *generator.random.choose(&[Deleted::With, Deleted::Only]);
    }
    if generator.random.one_in(4) {
        for _ in 0..1 + generator.random.below(2) {
            let status = *generator.random.choose(&statuses);
            find.statuses.push(status.into());
        }
    }
    find.with_proxies = kind == TypeKind::Entity && generator.random.one_in(3);
    for _ in 0..generator.random.below(3) {
        let part = random_expression(generator, kind, 2);
        find = find.filter(part);
    }
    for _ in 0..generator.random.below(3) {
        let field = random_field(generator);
        let order = *generator.random.choose(&[Order::Ascending, Order::Descending]);
        find = find.sort(field, order);
        if generator.random.one_in(2) {
            break;
        }
    }
    // Often the same property is searched and ordered by.
    if let (Expression::Condition(condition), Some(sort)) = (&mut find.filter, find.order.first())
        && sort.field != Field::Header(Header::Id)
        && matches!(sort.field, Field::Property(_))
        && generator.random.one_in(2)
    {
        condition.field = sort.field.clone();
    }
    if generator.random.one_in(8) {
        find.offset = *generator.random.choose(&[1, 2, 3, 5, 9, 20, 60]);
    }
    find
}

fn random_field(generator: &mut Generator) -> Field {
    if generator.random.one_in(4) {
        return Field::Header(*generator.random.choose(&[
            Header::Id,
            Header::CreatedAt,
            Header::UpdatedAt,
            Header::Version,
            Header::Type,
            Header::UpdatedBy,
            Header::CreatedBy,
            Header::Status,
            Header::Home,
            Header::License,
            Header::Provenance,
            Header::ReidentifiedFrom,
        ]));
    }
    Field::Property(generator.property().into())
}

fn random_expression(generator: &mut Generator, kind: TypeKind, depth: usize) -> Expression {
    let types = if kind == TypeKind::Entity { ENTITY_TYPES } else { RELATIONSHIP_TYPES };
    if depth > 0 && generator.random.one_in(3) {
        let count = 1 + generator.random.below(2);
        let parts = (0..count).map(|_| random_expression(generator, kind, depth - 1)).collect();
        return match generator.random.below(3) {
            0 => Expression::All(parts),
            1 => Expression::Any(parts),
            _ => Expression::None(parts),
        };
    }
    match generator.random.below(12) {
        0 => Expression::Type((*generator.random.choose(&types)).into()),
        1 | 2 if kind == TypeKind::Entity => Expression::Classified {
            name: (*generator.random.choose(&CLASSIFICATIONS)).into(),
            matching: generator.random.one_in(2).then(|| Box::new(random_condition(generator).into())),
        },
        3 if kind == TypeKind::Entity => Expression::Linked {
            direction: *generator.random.choose(&[LinkDirection::Out, LinkDirection::In, LinkDirection::Any]),
            type_name: generator
                .random
                .one_in(2)
                .then(|| (*generator.random.choose(&RELATIONSHIP_TYPES)).into()),
            matching: generator.random.one_in(3).then(|| Box::new(random_condition(generator).into())),
            other: generator.random.one_in(2).then(|| Box::new(random_condition(generator).into())),
        },
        _ => random_condition(generator).into(),
    }
}

fn random_condition(generator: &mut Generator) -> Condition {
    let operator = *generator.random.choose(
        &[&Operator::ALL[..], &[Operator::Equal, Operator::Equal, Operator::Prefix, Operator::Matches]]
            .concat(),
    );
    let is_text = operator.is_textual();
    let long = "x".repeat(119 + generator.random.below(4));
    let count = operator.values_count().unwrap_or(1 + generator.random.below(12));
    let mut values: Vec<Value> = Vec::new();
    for _ in 0..count {
        values.push(match operator {
            Operator::Matches => Value::from(*generator.random.choose(&[
                "a.*",
                ".*b",
                ".*",
                "",
                "[ab]+",
                ".*a.*",
                "x{119,121}",
                "ab|y",
                "\\Qa\\E.*",
            ])),
            _ if is_text => Value::from(*generator.random.choose(&["", "a", "ab", "\0", &long, "y", "A"])),
            _ => generator.scalar(),
        });
    }
    let mut field = random_field(generator);
    if matches!(field, Field::Header(_)) && !is_text && operator.values_count() != Some(0) {
        field = Field::Header(Header::Version);
    }
    if operator == Operator::Equal && generator.random.one_in(4) {
        // Searched through the lists of ids and homes.
        let (header, text) = match generator.random.below(3) {
            0 => (Header::Id, generator.entity().to_string()),
            1 => (Header::Home, (*generator.random.choose(&HOMES)).to_owned()),
            _ => (Header::Status, (*generator.random.choose(&["active", "draft", "deleted"])).to_owned()),
        };
        let values = vec![Value::from(text)];
        return Condition { field: Field::Header(header), operator, values, ignores_case: false };
    }
    if (is_text || operator == Operator::Equal) && generator.random.one_in(4) {
        if !is_text {
            values = vec![Value::from(*generator.random.choose(&["a", "ab", "b"]))];
        }
        field = Field::AnyText;
    }
    let ignores_case = is_text && generator.random.one_in(4);
    Condition { field, operator, values, ignores_case }
}

fn read_pages(
    snapshot: &Snapshot,
    kind: TypeKind,
    find: &Find,
    plan: Option<usize>,
    generator: &mut Generator,
) -> Result<Option<Vec<Id>>> {
    let mut ids = Vec::new();
    let mut next = None;
    let mut offset = find.offset;
    let mut is_first = true;
    // Items before the offset are read as well, so that all searches give the same.
    if offset > 0 {
        let before = Find { offset: 0, limit: offset, ..find.clone() };
        match page(snapshot, kind, &before, plan, 1_000)? {
            None => return Ok(None),
            Some(page) => ids.extend(page.items),
        }
    }
    while is_first || next.is_some() {
        is_first = false;
        let limit = *generator.random.choose(&[1, 2, 3, 7, 50]);
        let bytes_max = *generator.random.choose(&[0, 200, 1_000, PAGE_BYTES_MAX, PAGE_BYTES_MAX]);
        let find = Find { after: next.take(), limit, offset, bytes_max, ..find.clone() };
        offset = 0;
        let kept_max = 1 + generator.random.below(3);
        let Some(page) = page(snapshot, kind, &find, plan, kept_max)? else { return Ok(None) };
        assert!(page.items.len() <= limit, "{find}: a page of {}", page.items.len());
        let is_full = page.items.len() == limit || bytes_max < PAGE_BYTES_MAX && !page.items.is_empty();
        assert!(page.next.is_none() || is_full, "{find}: a page that is not full is the last");
        ids.extend(page.items);
        next = page.next;
    }
    Ok(Some(ids))
}

fn page(
    snapshot: &Snapshot,
    kind: TypeKind,
    find: &Find,
    plan: Option<usize>,
    kept_max: usize,
) -> Result<Option<Page<Id>>> {
    if let Some(plan) = plan {
        return snapshot.find_ids_keeping(kind, find, plan, kept_max);
    }
    if kind == TypeKind::Entity {
        let page = snapshot.find_entities(find)?;
        let items = page.items.iter().map(|found| found.id().clone()).collect();
        return Ok(Some(Page { items, next: page.next }));
    }
    let page = snapshot.find_relationships(find)?;
    let items = page.items.iter().map(|found| found.id().clone()).collect();
    Ok(Some(Page { items, next: page.next }))
}

fn holds(model: &Reference, kind: TypeKind, seen: Seen, view: View, expression: &Expression) -> bool {
    let inner = |expression: &Expression| holds(model, kind, seen, view, expression);
    match expression {
        Expression::All(parts) => parts.iter().all(inner),
        Expression::Any(parts) => parts.iter().any(inner),
        Expression::None(parts) => !parts.iter().any(inner),
        Expression::Type(name) => is_of(model, kind, seen, name, view),
        Expression::Classified { name, matching } => {
            let names = model.with_subtypes(TypeKind::Classification, name, view.position);
            seen.version.image.classifications.iter().any(|(name, known)| {
                let condition = matching.as_deref().map(|matching| match matching {
                    Expression::Condition(condition) => condition,
                    other => panic!("{other} is not generated"),
                });
                names.contains(name)
                    && condition.is_none_or(|condition| {
                        condition_holds(condition, &known.properties, &|header| {
                            classification_header(name, known, header)
                        })
                    })
            })
        }
        Expression::Linked { direction, type_name, matching, other } => {
            let types = type_name
                .as_ref()
                .map(|name| model.with_subtypes(TypeKind::Relationship, name, view.position));
            model.relationships.values().any(|known| {
                let Some(version) = known.live(view) else { return false };
                let (from, to) = version.shape.ends.expect("relationships have ends");
                let far = |far: u64| {
                    let found = &model.entities[&far];
                    let Some(version) = found.live(view) else { return false };
                    let end = Seen { id: &version.shape.id, known: found, version };
                    other.as_deref().is_none_or(|other| holds(model, TypeKind::Entity, end, view, other))
                };
                let is_there = matches!(direction, LinkDirection::Out | LinkDirection::Any)
                    && from == seen.known.age
                    && far(to)
                    || matches!(direction, LinkDirection::In | LinkDirection::Any)
                        && to == seen.known.age
                        && far(from);
                let link = Seen { id: &version.shape.id, known, version };
                is_there
                    && types.as_ref().is_none_or(|types| types.contains(&version.shape.type_name))
                    && matching
                        .as_deref()
                        .is_none_or(|matching| holds(model, TypeKind::Relationship, link, view, matching))
            })
        }
        Expression::Condition(condition) => {
            condition_holds(condition, &seen.version.image.properties, &|header| header_of(seen, header))
        }
    }
}

fn header_of(seen: Seen, header: Header) -> Option<Value> {
    let Seen { id, version, .. } = seen;
    let shape = &version.shape;
    let instant = |micros| Some(Value::Timestamp(Instant::from_micros(micros).unwrap()));
    match header {
        Header::Id => Some(Value::from(id.to_string())),
        Header::Type => Some(Value::from(&*shape.type_name)),
        Header::Version => Some(Value::from(i64::from(version.number))),
        Header::CreatedAt => instant(version.created.0),
        Header::CreatedBy => Some(Value::from(&*version.created.1)),
        Header::UpdatedAt => instant(version.updated.0),
        Header::UpdatedBy => Some(Value::from(&*version.updated.1)),
        Header::Status if version.status == Status::Deleted => Some(Value::from("deleted")),
        Header::Status => Some(Value::from(&*shape.status_name)),
        Header::ReidentifiedFrom => shape.reidentified_from.as_ref().map(|id| Value::from(id.to_string())),
        header => provenance_header(shape.provenance.as_ref(), header),
    }
}

fn provenance_header(provenance: Option<&Provenance>, header: Header) -> Option<Value> {
    let text = |text: &Option<std::sync::Arc<str>>| text.as_ref().map(|text| Value::from(&**text));
    match header {
        Header::Provenance => {
            Some(Value::from(provenance.map_or(ProvenanceKind::Local, |known| known.kind).name()))
        }
        Header::Home => text(&provenance?.home),
        Header::License => text(&provenance?.license),
        _ => None,
    }
}

fn classification_header(name: &str, known: &Classified, header: Header) -> Option<Value> {
    let instant = |micros| Some(Value::Timestamp(Instant::from_micros(micros).unwrap()));
    match header {
        Header::Type => Some(Value::from(name)),
        Header::Version => Some(Value::from(i64::from(known.version))),
        Header::CreatedAt => instant(known.created.0),
        Header::CreatedBy => Some(Value::from(&*known.created.1)),
        Header::UpdatedAt => instant(known.updated.0),
        Header::UpdatedBy => Some(Value::from(&*known.updated.1)),
        header => provenance_header(known.provenance.as_ref(), header),
    }
}

fn condition_holds(
    condition: &Condition,
    properties: &Properties,
    header: &dyn Fn(Header) -> Option<Value>,
) -> bool {
    match &condition.field {
        Field::Property(name) => value_holds(condition, properties.get(&**name)),
        Field::Header(field) => value_holds(condition, header(*field).as_ref()),
        Field::AnyText => {
            // The texts of strings and of literals with a language, as strings.
            let is_free_text = |value: &Value| !matches!(value, Value::Iri(_));
            let holds = |value: &Value| {
                let text = text_of(value).filter(|_| is_free_text(value)).map(Value::from);
                text.is_some_and(|text| value_holds(condition, Some(&text)))
            };
            properties.values().any(|value| match value {
                Value::Set(values) => values.iter().any(|value| holds(&value)),
                value => holds(value),
            })
        }
    }
}

fn value_holds(condition: &Condition, held: Option<&Value>) -> bool {
    let wanted = &condition.values;
    let compare = |value: &Value, at: usize| value.compare(&wanted[at]);
    let is_equal = |value: &Value| compare(value, 0) == Some(Ordering::Equal);
    let any = |test: &dyn Fn(&Value) -> bool| match held {
        None => false,
        Some(Value::Set(values)) => values.iter().any(|value| test(&value)),
        Some(value) => test(value),
    };
    let compares = |at: usize, orders: &[Ordering]| {
        any(&|value| compare(value, at).is_some_and(|order| orders.contains(&order)))
    };
    let folded = |text: &str| if condition.ignores_case { text.to_lowercase() } else { text.to_owned() };
    let texts = |test: &dyn Fn(&str, &str) -> bool| {
        any(&|value| {
            let is_iri = |value: &Value| matches!(value, Value::Iri(_));
            let is_of_kind = condition.operator != Operator::Prefix || is_iri(value) == is_iri(&wanted[0]);
            let held = text_of(value).map(folded);
            is_of_kind && held.is_some_and(|held| test(&held, &folded(wanted[0].as_str().expect("a text"))))
        })
    };
    match condition.operator {
        Operator::Equal => any(&is_equal),
        Operator::NotEqual => held.is_some() && !any(&is_equal),
        Operator::Less => compares(0, &[Ordering::Less]),
        Operator::LessOrEqual => compares(0, &[Ordering::Less, Ordering::Equal]),
        Operator::Greater => compares(0, &[Ordering::Greater]),
        Operator::GreaterOrEqual => compares(0, &[Ordering::Greater, Ordering::Equal]),
        Operator::Between => any(&|value| {
            compare(value, 0).is_some_and(Ordering::is_ge) && compare(value, 1).is_some_and(Ordering::is_le)
        }),
        Operator::In => any(&|value| (0..wanted.len()).any(|at| compare(value, at) == Some(Ordering::Equal))),
        Operator::Has => match held {
            Some(Value::List(values)) => values.iter().any(is_equal),
            Some(Value::Set(values)) => values.iter().any(|value| is_equal(&value)),
            _ => false,
        },
        Operator::Prefix => texts(&|held, part| held.starts_with(part)),
        Operator::Suffix => texts(&|held, part| held.ends_with(part)),
        Operator::Contains => texts(&|held, part| held.contains(part)),
        Operator::Matches => texts(&|held, pattern| {
            let whole = held.to_owned();
            match pattern {
                "a.*" | "\\qa\\e.*" | "\\Qa\\E.*" => whole.starts_with('a') && !whole.contains('\n'),
                ".*b" => whole.ends_with('b') && !whole.contains('\n'),
                ".*" => !whole.contains('\n'),
                "" => whole.is_empty(),
                "[ab]+" => !whole.is_empty() && whole.chars().all(|c| c == 'a' || c == 'b'),
                ".*a.*" => whole.contains('a') && !whole.contains('\n'),
                "x{119,121}" => (119..=121).contains(&whole.len()) && whole.chars().all(|c| c == 'x'),
                "ab|y" => whole == "ab" || whole == "y",
                other => panic!("{other} is not generated"),
            }
        }),
        Operator::Exists => held.is_some(),
        Operator::Missing => held.is_none(),
        _ => unreachable!("all operators are known"),
    }
}

/// The order of two instances in a search. Equals go by age; numbers of different kinds that are equal are so unless the
/// order is one property alone, which has that of its index.
fn order_of_search(find: &Find, a: Seen, b: Seen) -> Ordering {
    let is_alone = find.order.len() == 1;
    for sort in &find.order {
        let is_descending = sort.order == Order::Descending;
        let order = match &sort.field {
            Field::Header(Header::Id) => a.id.cmp(b.id),
            field => {
                let compare = if is_alone { order_in_index } else { order_of };
                let key = |seen: Seen| sort_value(seen, field, is_descending, compare);
                match (key(a), key(b)) {
                    (Some(a), Some(b)) => compare(&a, &b),
                    (None, None) => Ordering::Equal,
                    (None, Some(_)) => return Ordering::Greater,
                    (Some(_), None) => return Ordering::Less,
                }
            }
        };
        let order = if is_descending { order.reverse() } else { order };
        if order.is_ne() {
            return order;
        }
    }
    if find.order.is_empty() {
        // The conditions may suggest another order.
        return Ordering::Equal;
    }
    let is_descending = find.order.last().is_some_and(|sort| sort.order == Order::Descending);
    let by_age = a.known.age.cmp(&b.known.age);
    if is_descending { by_age.reverse() } else { by_age }
}

fn sort_value(
    seen: Seen,
    field: &Field,
    is_greatest: bool,
    compare: fn(&Value, &Value) -> Ordering,
) -> Option<Value> {
    let values: Vec<Value> = match field {
        Field::Header(header) => header_of(seen, *header).into_iter().collect(),
        Field::Property(name) => scalars(&seen.version.image, name).collect(),
        Field::AnyText => Vec::new(),
    };
    values
        .into_iter()
        .reduce(|a, b| if (compare(&a, &b) == Ordering::Greater) == is_greatest { a } else { b })
}

fn scalars<'i>(image: &'i Image, name: &str) -> impl Iterator<Item = Value> + use<'i> {
    let values: Vec<Value> = match image.properties.get(name) {
        Some(Value::Set(values)) => values.iter().collect(),
        Some(value) if value.is_scalar() => vec![value.clone()],
        _ => Vec::new(),
    };
    values.into_iter()
}
