//! Statements that the mixture of doors makes about resources.

/// The vocabulary of the statements.
pub const DC: &str = "http://purl.org/dc/elements/1.1/";

/// A statement that a client makes about a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Said {
    Title(usize),
    /// About the part `#part`.
    PartTitle(usize),
    /// That it relates to another resource, there or not: a relationship.
    Relation(&'static str),
    /// The same, written while the other resource was deleted: an IRI, which no purge takes along.
    Iri(&'static str),
}

impl Said {
    /// In Turtle, about the resource itself.
    pub fn turtle(&self, root: &str) -> String {
        match self {
            Said::Title(number) => format!("<> dc:title 't{number}' . "),
            Said::PartTitle(number) => format!("<#part> dc:title 'p{number}' . "),
            Said::Relation(path) | Said::Iri(path) => format!("<> dc:relation <{root}{path}> . "),
        }
    }

    /// In N-Triples, about the resource at `path`.
    pub fn line(&self, root: &str, path: &str) -> String {
        match self {
            Said::Title(number) => format!("<{root}{path}> <{DC}title> \"t{number}\" ."),
            Said::PartTitle(number) => format!("<{root}{path}#part> <{DC}title> \"p{number}\" ."),
            Said::Relation(other) | Said::Iri(other) => {
                format!("<{root}{path}> <{DC}relation> <{root}{other}> .")
            }
        }
    }
}
