//! The forms of the door itself, as types: problems, lines of answers, the feed and the state of the server. The other
//! forms are in `annals_json::wire`, which has the rules. Must not know the handlers that answer with them.
#![allow(missing_docs, reason = "a doc comment is a description in the document; not every member needs one")]

// In the order a newcomer should read them.
mod problem;
mod state;
mod line;
mod feed;
pub mod content;

pub use feed::*;
pub use line::*;
pub use problem::*;
pub use state::*;

use annals_json::wire::NamedForm;

/// Every form of the document.
pub fn forms() -> Vec<NamedForm> {
    let own = [problem::forms(), state::forms(), line::forms(), feed::forms(), content::forms()];
    annals_json::wire::forms().into_iter().chain(own.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use annals_json::wire::schemas_of;

    use super::*;

    #[test]
    fn every_named_schema_has_an_example_that_its_type_reads_and_writes_alike() {
        let forms = forms();
        let schemas = schemas_of(&forms);
        assert_eq!(schemas.len(), forms.len(), "a type with a name stands in no list of forms");
        for form in forms {
            let examples = schemas[form.name()]["examples"].as_array().cloned().unwrap_or_default();
            assert_eq!(examples.len(), 1, "{} has not one example", form.name());
            form.check(&examples[0]).unwrap_or_else(|error| panic!("{}: {error}", form.name()));
        }
    }
}
