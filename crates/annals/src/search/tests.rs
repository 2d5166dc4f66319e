//! The text form: its meaning, its errors, and that printing and reading are inverse.

use proptest::prelude::*;
use rust_decimal::Decimal;

use super::*;
use crate::ErrorKind;
use crate::model::{Literal, Value};

fn name() -> impl Strategy<Value = std::sync::Arc<str>> {
    prop_oneof!["[a-zé]{1,4}", "[ -~]{1,5}", Just("order".to_owned()), Just("a b`\\".to_owned())]
        .prop_map(Into::into)
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof!["[a-z ]{0,4}", "\\PC{0,4}", Just("'\"\\\n\t\0".to_owned()), Just("5".to_owned())]
        .prop_map(Value::from)
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        text(),
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_map(|number| Value::Float(if number.is_nan() { f64::NAN } else { number })),
        (-50i64..50, 0u32..4).prop_map(|(n, s)| Value::Decimal(Decimal::new(n, s))),
        proptest::collection::vec(any::<u8>(), 0..4).prop_map(|bytes| Value::Bytes(bytes.into())),
        "[a-z:]{0,4}".prop_map(|iri| Value::Iri(iri.into())),
        (-9999i32..9999).prop_map(|days| Value::Date(crate::Date::from_days(days).unwrap())),
        any::<i32>().prop_map(|n| Value::Timestamp(crate::Instant::from_micros(n.into()).unwrap())),
        any::<i32>().prop_map(|n| Value::Duration(crate::Duration::from_micros(n.into()))),
        any::<[u8; 16]>().prop_map(Value::Uuid),
        ("\\PC{0,4}", "[a-z]{1,3}(-[A-Z0-9]{2})?").prop_map(|(text, language)| Literal::in_language(
            &text, &language
        )
        .unwrap()
        .into()),
        ("[a-z' ]{0,4}", "[a-z]:[a-z#']{0,3}").prop_map(|(text, datatype)| Literal::with_datatype(
            &text, &datatype
        )
        .unwrap()
        .into()),
    ];
    scalar.prop_recursive(2, 6, 3, |inner| {
        let map = proptest::collection::btree_map("[a-z ]{0,3}".prop_map(Into::into), inner.clone(), 0..3);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|values| Value::List(values.into())),
            map.prop_map(|entries| Value::Map(std::sync::Arc::new(entries))),
            Just(Value::set([Value::from(1), Value::from("a")]).unwrap()),
        ]
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    let field = prop_oneof![
        name().prop_map(Field::Property),
        proptest::sample::select(&Header::ALL[..]).prop_map(Field::Header),
    ];
    let operator = proptest::sample::select(&Operator::ALL[..]);
    (field, operator, proptest::collection::vec(value(), 2..4), text(), any::<bool>(), any::<bool>())
        .prop_map(|(field, operator, values, text, is_any, nocase)| {
            let is_text = operator.is_textual() || is_any && operator == Operator::Equal;
            let mut values = if is_text { vec![text] } else { values };
            if operator == Operator::Matches {
                values = vec![Value::from("a.*\\d[b-c]")];
            }
            values.truncate(operator.values_count().unwrap_or(3));
            let field = if is_any && is_text { Field::AnyText } else { field };
            Condition { field, operator, values, ignores_case: nocase && is_text }
        })
}

/// Groups of one part exist only under their word, so that every tree has one text.
fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        condition().prop_map(Expression::Condition),
        name().prop_map(Expression::Type),
        (name(), proptest::option::of(condition())).prop_map(|(name, matching)| Expression::Classified {
            name,
            matching: matching.map(|matching| Box::new(matching.into())),
        }),
        (name(), condition(), any::<bool>(), proptest::option::of(condition())).prop_map(
            |(name, matching, is_in, other)| Expression::Linked {
                direction: if is_in { LinkDirection::In } else { LinkDirection::Any },
                type_name: (!is_in).then_some(name),
                matching: is_in.then(|| Box::new(matching.into())),
                other: other.map(|other| Box::new(other.into())),
            }
        ),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let parts = || proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            parts().prop_map(Expression::All),
            parts().prop_map(Expression::Any),
            parts().prop_map(Expression::None)
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same(
        types in proptest::collection::vec(name(), 0..3),
        subtypes in proptest::collection::vec(name(), 0..2),
        filter in expression(),
        order in proptest::collection::vec((name(), any::<bool>()), 0..3),
        offset in 0usize..3,
        statuses in proptest::collection::vec(name(), 0..3),
        deleted in proptest::sample::select(&[Deleted::Without, Deleted::With, Deleted::Only][..]),
        with_proxies in any::<bool>(),
    ) {
        let sort = |(name, is_descending)| OrderBy {
            field: Field::Property(name),
            order: if is_descending { Order::Descending } else { Order::Ascending },
        };
        let order: Vec<OrderBy> = order.into_iter().map(sort).collect();
        let find = Find { types, subtypes, filter, order, offset, statuses, deleted, with_proxies, limit: 7, ..Find::default() };
        let printed = find.to_string();
        match Find::parse(&printed) {
            Ok(read) => prop_assert_eq!(read, find, "{}", printed),
            Err(error) => prop_assert!(false, "{}\n{}", error, printed),
        }
    }

    #[test]
    fn reading_any_text_never_panics(text in "\\PC{0,40}", words in proptest::collection::vec(
        proptest::sample::select(&["a", "(", ")", "and", "or", "not", "=", "'", "in", ",", "has", "out", "*", "@id", "limit", "5"][..]), 0..12)
    ) {
        let _ = Find::parse(&text);
        let _ = Find::parse(&words.join(" "));
    }
}

#[test]
fn people_write_it_so() {
    for (text, printed) in [
        ("package", "package limit 100"),
        ("*", "* limit 100"),
        ("", "* limit 100"),
        ("a, b only c where x = 1", "a, b only c where x = 1 limit 100"),
        ("size>=5 and not name = bash", "* where size >= 5 and none(name = 'bash') limit 100"),
        ("p where a = 1 or b = 2 and c = 3", "p where a = 1 or (b = 2 and c = 3) limit 100"),
        ("name =~ /a\\/\\d+/", "* where name =~ 'a/\\\\d+' limit 100"),
        ("name ^= 5", "* where name ^= '5' limit 100"),
        ("x between 1 and 2.5 and y is null", "* where x between 1 and 2.5 and y is null limit 100"),
        ("x in (a, 'b c', 3)", "* where x in ('a', 'b c', 3) limit 100"),
        ("tags has red", "* where tags has 'red' limit 100"),
        (
            "classified essential (level > 2 and @createdBy = ada)",
            "* where classified essential (level > 2 and @createdBy = 'ada') limit 100",
        ),
        (
            "process where has out DataFlow (since > 3) to (is store and name $= x nocase)",
            "process where has out DataFlow (since > 3) to (is store and name $= 'x' nocase) limit 100",
        ),
        (
            "@text ~= shell order by @updatedAt desc, name limit 3",
            "* where @text ~= 'shell' order by @updatedAt desc, name limit 3",
        ),
        ("born < date(1815-12-10)", "* where born < date('1815-12-10') limit 100"),
    ] {
        assert_eq!(
            Find::parse(text).unwrap_or_else(|error| panic!("{error}")).to_string(),
            printed,
            "{text}"
        );
    }
}

#[test]
fn a_property_may_be_called_status_although_a_clause_begins_so() {
    let drafts = Find::of("report").with_statuses(["draft", "in review"]);
    assert_eq!(Find::parse("report status draft, `in review`").unwrap(), drafts);
    assert_eq!(Find::parse("status draft").unwrap(), Find::all().with_statuses(["draft"]));
    for text in ["status = open", "status in (open)", "status is not null", "status between 1 and 2"] {
        let condition = Find::all().filter(Expression::parse(text).unwrap());
        assert_eq!(Find::parse(text).unwrap(), condition, "{text}");
    }
    assert_eq!(
        Find::parse("a status active, deleted").unwrap(),
        Find::of("a").with_statuses(["active", "deleted"])
    );
    assert_eq!(Find::parse("status deleted").unwrap(), Find::all().with_statuses(["deleted"]));
    assert_eq!(Find::parse("status deleted with").unwrap(), Find::of("status").deleted(Deleted::With));
    let open = Find::of("status").filter(Expression::parse("status = open").unwrap());
    for find in [
        Find::of("status"),
        Find::of("status").with_statuses(["status", "deleted"]),
        open.with_statuses(["draft"]),
    ] {
        assert_eq!(Find::parse(&find.to_string()).unwrap(), find, "{find}");
    }
}

#[test]
fn errors_point_at_the_character() {
    for (text, character) in [
        ("package where size >=", 22),
        ("package where size 5", 20),
        ("package wher size = 5", 9),
        ("name = 'bash", 8),
        ("name = 'ba\\dsh'", 11),
        ("a = 1 and", 10),
        ("(a = 1", 7),
        ("@created = 1", 1),
        ("x = date(tomorrow)", 5),
        ("has DataFlow", 5),
        ("order = 5", 7),
        ("name =~ /(/", 1),
        ("é = !", 5),
    ] {
        let error = Find::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidExpression, "{text}");
        let place = format!("character {character}:");
        assert!(error.to_string().contains(&place), "{text}: expected {place} in {error}");
    }
}

#[test]
fn what_is_over_a_bound_is_refused() {
    let deep = format!("{}a = 1{}", "(".repeat(1_000), ")".repeat(1_000));
    assert_eq!(Find::parse(&deep).unwrap_err().kind(), ErrorKind::InvalidExpression);
    let wide = vec!["a = 1"; CONDITIONS_MAX + 1].join(" and ");
    assert_eq!(Find::parse(&wide).unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!(Find::parse(&" ".repeat(TEXT_BYTES_MAX + 1)).unwrap_err().kind(), ErrorKind::TooLarge);
    let nested = "has out a to (has out b)";
    assert_eq!(Find::parse(nested).unwrap_err().kind(), ErrorKind::InvalidExpression);
    assert_eq!(Find::parse("a limit 0").unwrap_err().kind(), ErrorKind::InvalidPage);
}
