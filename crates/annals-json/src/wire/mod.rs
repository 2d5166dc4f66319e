//! The JSON forms for clients, each as a type. The schemas of `/openapi.json` are derived from these types, and the
//! tests of the HTTP door parse its answers as these types.
//!
//! Types, leases and candidates are read through these types (`read`). The other forms are written by hand (`form`) and
//! read by hand: that takes less time, and an action refuses members that belong to another one. Three rules keep these
//! types complete:
//!
//! - A form is `#[form]`, so that it allows no further members; a part of several forms is `#[form(part)]`.
//! - An optional member is an `Option`; a required one that may be null is an `OrNull`.
//! - A type has a name in the document, unless it is `inline`. A named type has an example, and is listed in [`forms`].
//!
//! Doc comments become descriptions in the document. An inline type has an ordinary comment instead, because its
//! description would be repeated with each use.
#![allow(missing_docs, reason = "a doc comment is a description in the document; not every member needs one")]

// In the order a newcomer should read them.
#[macro_use]
mod named;
#[macro_use]
mod scalar;
mod value;
mod provenance;
mod instance;
mod content;
mod version;
mod found_groups;
mod page;
mod graph;
mod find;
mod type_definition;
mod tree;
mod patch;
mod operation;
mod candidate;
mod operational;
mod logged;
mod exchange;
mod feed;

pub use annals_json_form::form;
pub use candidate::*;
pub use content::*;
pub use exchange::*;
pub use feed::*;
pub use find::*;
pub use found_groups::*;
pub use graph::*;
pub use instance::*;
pub use logged::*;
pub use named::*;
pub use operation::*;
pub use operational::*;
pub use page::*;
pub use patch::*;
pub use provenance::*;
pub use scalar::*;
pub use tree::*;
pub use type_definition::*;
pub use value::*;
pub use version::*;

/// Every named form.
pub fn forms() -> Vec<NamedForm> {
    let modules = [
        value::forms(),
        provenance::forms(),
        instance::forms(),
        content::forms(),
        version::forms(),
        found_groups::forms(),
        page::forms(),
        graph::forms(),
        find::forms(),
        type_definition::forms(),
        tree::forms(),
        patch::forms(),
        operation::forms(),
        candidate::forms(),
        operational::forms(),
        logged::forms(),
        exchange::forms(),
        feed::forms(),
    ];
    modules.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use annals::Action;
    use annals::action::Key;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_named_schema_has_an_example_that_its_type_reads_and_writes_alike() {
        let forms = forms();
        let schemas = schemas_of(&forms);
        assert_eq!(schemas.len(), forms.len(), "a type with a name stands in no list of forms");
        for form in forms {
            let examples = schemas[form.name()]["examples"].as_array();
            let examples = examples.unwrap_or_else(|| panic!("{} has no example", form.name()));
            assert!(!examples.is_empty(), "{} has no example", form.name());
            for example in examples {
                form.check(example).unwrap_or_else(|error| panic!("{}: {error}", form.name()));
            }
        }
    }

    #[test]
    fn a_type_refuses_a_member_that_it_lacks_and_a_null_for_one_that_may_be_left_out() {
        let stamp = NamedForm::of::<Stamp>();
        let good = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
        assert_eq!(stamp.check(&good), Ok(()));
        let mut more = good.clone();
        more["zone"] = "UTC".into();
        assert!(stamp.check(&more).unwrap_err().contains("zone"));
        assert!(NamedForm::of::<StatusChange>().check(&json!({})).unwrap_err().contains("status"));
        assert!(NamedForm::of::<EndsChange>().check(&json!({ "to": null })).unwrap_err().contains("written"));
        // A form that consists of several, and one that has a header, refuse unknown members, too.
        let mut entity = entity_example();
        entity["classifications"]["essential"]["zone"] = "UTC".into();
        assert!(NamedForm::of::<Entity>().check(&entity).is_err());
        assert!(NamedForm::of::<PathStep>().check(&json!({ "direction": "out" })).is_err());
        assert!(NamedForm::of::<Value>().check(&json!({ "$unknown": 1 })).is_err());
    }

    #[test]
    fn every_field_of_every_action_is_a_member_of_an_operation() {
        let schemas = schemas_of(&[NamedForm::of::<Operation>()]);
        let members = schemas["Operation"]["properties"].as_object().unwrap();
        // A provenance has its own members; only compactions write lists of instances.
        let own = [Key::Provenance, Key::Origin, Key::Instances];
        let fields = Action::FORMS.iter().flat_map(|form| form.fields);
        for field in fields.filter(|field| !own.contains(&field.key)) {
            assert!(members.contains_key(field.name), "an operation lacks {}", field.name);
        }
        let told = [crate::PROVENANCE_FIELDS, crate::ORIGIN_FIELDS, &crate::AS_OF].concat();
        for name in told {
            assert!(members.contains_key(name), "an operation lacks {name}");
        }
    }
}
