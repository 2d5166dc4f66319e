//! The searches of the suite as Datalog queries for documents. Names of attributes: `XtdbInstance` of the adapter.

use annals::{Condition, Deleted, Expression, Field, Find, Header, Operator, Order, TypeKind, Value};
use annals_json::value_to_json;
use serde_json::Value as Json;

use crate::outcome::Outcome;

/// A query, with its values as arguments, so that XTDB compiles each form of a query once.
#[derive(Default)]
pub struct Query {
    /// Found variables besides the instance, for the order.
    found: Vec<String>,
    clauses: Vec<String>,
    order: Vec<String>,
    /// Values of the variables `a0`, `a1` and so on.
    pub arguments: Vec<Json>,
}

/// The attributes of an instance, or of one of its classifications.
struct Attributes<'a> {
    classification: Option<&'a str>,
}

impl Query {
    /// The query for a search.
    ///
    /// Errors: if the suite does not make such searches.
    pub fn of(kind: TypeKind, find: &Find) -> Outcome<Query> {
        let mut query = Query::default();
        match find.types.as_slice() {
            [] => query.equal("kind", kind.name().into()),
            [name] => query.equal("types", (&**name).into()),
            more => return Err(format!("{more:?}: expected one type").into()),
        }
        query.clauses.push(match find.deleted {
            Deleted::Only => r#"[e :state "deleted"]"#.into(),
            _ => r#"[e :state "live"]"#.into(),
        });
        let clauses = query.expression(&Attributes { classification: None }, &find.filter)?;
        query.clauses.extend(clauses);
        for (number, by) in find.order.iter().enumerate() {
            let direction = if by.order == Order::Ascending { ":asc" } else { ":desc" };
            let attribute = match &by.field {
                Field::Header(Header::Id) => {
                    query.order.push(format!("[e {direction}]"));
                    continue;
                }
                Field::Header(Header::CreatedAt) => "createTime".to_owned(),
                Field::Header(Header::UpdatedAt) => "updateTime".to_owned(),
                Field::Property(name) => format!("property/{name}"),
                other => return Err(format!("order by {other:?}: not known here").into()),
            };
            query.clauses.push(format!("[e :{attribute} o{number}]"));
            query.found.push(format!("o{number}"));
            query.order.push(format!("[o{number} {direction}]"));
        }
        Ok(query)
    }

    /// The query as XTDB reads it.
    pub fn text(&self) -> String {
        let arguments: Vec<String> = (0..self.arguments.len()).map(|number| format!("a{number}")).collect();
        let mut text = format!(
            "{{:find [{}] :in [{}] :where [{}]",
            [&["e".to_owned()][..], &self.found[..]].concat().join(" "),
            arguments.join(" "),
            self.clauses.join(" ")
        );
        if !self.order.is_empty() {
            text += &format!(" :order-by [{}]", self.order.join(" "));
        }
        text + "}"
    }

    /// Returns the variable with the value.
    fn argument(&mut self, value: Json) -> String {
        self.arguments.push(value);
        format!("a{}", self.arguments.len() - 1)
    }

    fn equal(&mut self, attribute: &str, value: Json) {
        let clause = self.is(attribute, value);
        self.clauses.push(clause);
    }

    fn is(&mut self, attribute: &str, value: Json) -> String {
        format!("[e :{attribute} {}]", self.argument(value))
    }

    /// The clauses of an expression: all must hold.
    fn expression(&mut self, of: &Attributes, expression: &Expression) -> Outcome<Vec<String>> {
        Ok(match expression {
            Expression::All(all) => {
                let clauses = all.iter().map(|one| self.expression(of, one)).collect::<Outcome<Vec<_>>>()?;
                clauses.concat()
            }
            Expression::Any(any) => {
                let before = self.arguments.len();
                let legs = any.iter().map(|one| self.leg(of, one)).collect::<Outcome<Vec<_>>>()?;
                let arguments: Vec<String> =
                    (before..self.arguments.len()).map(|number| format!("a{number}")).collect();
                vec![format!("(or-join [e {}] {})", arguments.join(" "), legs.join(" "))]
            }
            Expression::None(none) => {
                let clauses = none.iter().map(|one| self.expression(of, one)).collect::<Outcome<Vec<_>>>()?;
                clauses.iter().map(|clauses| format!("(not {})", clauses.join(" "))).collect()
            }
            Expression::Classified { name, matching } => {
                let mut clauses = vec![self.is("classifications", (&**name).into())];
                if let Some(matching) = matching {
                    let of = Attributes { classification: Some(name) };
                    clauses.extend(self.expression(&of, matching)?);
                }
                clauses
            }
            Expression::Condition(condition) => self.condition(of, condition)?,
            other => return Err(format!("{other:?}: not known here").into()),
        })
    }

    /// One leg of several.
    fn leg(&mut self, of: &Attributes, expression: &Expression) -> Outcome<String> {
        let clauses = self.expression(of, expression)?;
        Ok(if let [one] = clauses.as_slice() { one.clone() } else { format!("(and {})", clauses.join(" ")) })
    }

    fn condition(&mut self, of: &Attributes, condition: &Condition) -> Outcome<Vec<String>> {
        let unknown = || format!("{condition:?}: not known here").into();
        let value = condition.values.first();
        let text = value.and_then(Value::as_str).unwrap_or_default();
        Ok(match (&condition.field, condition.operator) {
            (Field::Header(Header::Home), Operator::Missing) => vec![self.is(&of.home(), "own".into())],
            (Field::Header(Header::Home), Operator::Equal) => vec![self.is(&of.home(), text.into())],
            (Field::Header(Header::Version), Operator::Greater) => {
                let least = self.argument(value_to_json(value.ok_or_else(unknown)?));
                vec!["[e :version version]".into(), format!("[(> version {least})]")]
            }
            (Field::Property(name), Operator::Equal) => {
                vec![self.is(&of.property(name), value_to_json(value.ok_or_else(unknown)?))]
            }
            (Field::Property(name), Operator::Matches) => match Pattern::of(text) {
                Some(Pattern::Exactly(text)) => vec![self.is(&of.property(name), text.into())],
                _ => return Err(unknown()),
            },
            (Field::AnyText, Operator::Matches) => match Pattern::of(text).ok_or_else(unknown)? {
                Pattern::Exactly(text) => vec![self.is("texts", text.into())],
                Pattern::Starts(text) => self.any_text("starts-with?", text),
                Pattern::Contains(text) => self.any_text("includes?", text),
                Pattern::Ends(text) => self.any_text("ends-with?", text),
            },
            _ => return Err(unknown()),
        })
    }

    fn any_text(&mut self, predicate: &str, text: &str) -> Vec<String> {
        let argument = self.argument(text.into());
        vec!["[e :texts text]".into(), format!("[(clojure.string/{predicate} text {argument})]")]
    }
}

impl Attributes<'_> {
    fn home(&self) -> String {
        self.classification.map_or("home".into(), |name| format!("classification.{name}/home"))
    }

    fn property(&self, property: &str) -> String {
        match self.classification {
            None => format!("property/{property}"),
            Some(name) => format!("property.{name}/{property}"),
        }
    }
}

/// The forms of regular expressions that the suite uses.
enum Pattern<'a> {
    Exactly(&'a str),
    Starts(&'a str),
    Contains(&'a str),
    Ends(&'a str),
}

impl Pattern<'_> {
    fn of(pattern: &str) -> Option<Pattern<'_>> {
        let (head, rest) = match pattern.strip_prefix(".*") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let (tail, rest) = match rest.strip_suffix(".*") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let quoted = rest.strip_prefix(r"\Q").and_then(|rest| rest.strip_suffix(r"\E"));
        let is_plain = |text: &&str| text.chars().all(char::is_alphanumeric);
        let text = quoted.or(Some(rest).filter(is_plain))?;
        Some(match (head, tail) {
            (false, false) => Pattern::Exactly(text),
            (false, true) => Pattern::Starts(text),
            (true, true) => Pattern::Contains(text),
            (true, false) => Pattern::Ends(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(kind: TypeKind, find: &Find) -> (String, Vec<Json>) {
        let query = Query::of(kind, find).unwrap();
        (query.text(), query.arguments)
    }

    #[test]
    fn a_search_by_properties_gives_its_values_as_arguments() {
        let color = Condition::new(Field::from("color"), Operator::Matches, r"\Qred\E");
        let size = Condition::new(Field::from("size"), Operator::Equal, 7);
        let conditions = vec![Expression::from(color), Expression::from(size)];
        let find = Find::of("Car")
            .filter(Expression::Any(conditions.clone()))
            .sort(Field::from("size"), Order::Descending);
        let expected = r#"{:find [e o0] :in [a0 a1 a2] :where [[e :types a0] [e :state "live"] (or-join [e a1 a2] [e :property/color a1] [e :property/size a2]) [e :property/size o0]] :order-by [[o0 :desc]]}"#;
        assert_eq!(
            query(TypeKind::Entity, &find),
            (expected.into(), vec!["Car".into(), "red".into(), 7.into()])
        );
        let (text, _) = query(TypeKind::Entity, &Find::of("Car").filter(Expression::None(conditions)));
        assert!(text.contains("(not [e :property/color a1]) (not [e :property/size a2])"), "{text}");
    }

    #[test]
    fn texts_are_found_by_the_part_that_must_match() {
        let of = |pattern: &str| {
            query(TypeKind::Entity, &Find::of("Car").filter(Expression::any_text(Operator::Matches, pattern)))
        };
        let cases = [
            (r"\Qname\E", "[e :texts a1]", "name"),
            (r"\Qnam\E.*", "(clojure.string/starts-with? text a1)", "nam"),
            (r".*\Qam\E.*", "(clojure.string/includes? text a1)", "am"),
            (r".*\Qame\E", "(clojure.string/ends-with? text a1)", "ame"),
            ("nam.*", "(clojure.string/starts-with? text a1)", "nam"),
        ];
        for (pattern, clause, text) in cases {
            let (found, arguments) = of(pattern);
            assert!(found.contains(clause), "{pattern}: {found}");
            assert_eq!(arguments[1], text);
        }
        let unknown = Find::of("Car").filter(Expression::any_text(Operator::Matches, "n[ab]me"));
        assert!(Query::of(TypeKind::Entity, &unknown).is_err());
    }

    #[test]
    fn a_classification_has_attributes_of_its_own() {
        let home = Expression::header(Header::Home, Operator::Missing, "");
        let classified = Expression::Classified { name: "Secret".into(), matching: Some(Box::new(home)) };
        let (text, arguments) = query(TypeKind::Entity, &Find::all().filter(classified));
        let expected =
            "[e :kind a0] [e :state \"live\"] [e :classifications a1] [e :classification.Secret/home a2]";
        assert!(text.contains(expected), "{text}");
        assert_eq!(arguments, ["entity", "Secret", "own"]);
        let (text, _) = query(TypeKind::Relationship, &Find::of("Owns").deleted(Deleted::Only));
        assert!(text.contains(r#"[e :state "deleted"]"#), "{text}");
    }
}
