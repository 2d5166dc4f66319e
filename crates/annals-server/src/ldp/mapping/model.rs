//! Interaction models: what kind of resource an entity is.

use annals::Entity;
use http::HeaderMap;
use oxrdf::NamedNode;

use super::constraints::Refusal;
use super::vocabulary::LDP;
use crate::ldp::requests::link;
use crate::ldp_types;
use crate::protocol::problem::Problem;

/// An interaction model of LDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A resource in RDF without members.
    RdfSource,
    /// A container.
    Basic,
    /// A container whose children are members of another resource.
    Direct,
    /// A container whose children name the members of another resource.
    Indirect,
    /// Bytes of any media type.
    NonRdfSource,
    /// The ACL of a resource, in RDF.
    Acl,
}

impl Model {
    const ALL: [Model; 6] =
        [Model::RdfSource, Model::Basic, Model::Direct, Model::Indirect, Model::NonRdfSource, Model::Acl];

    /// The name of the entity type.
    pub fn type_name(self) -> &'static str {
        match self {
            Model::RdfSource => ldp_types::RDF_SOURCE,
            Model::Basic => ldp_types::BASIC_CONTAINER,
            Model::Direct => ldp_types::DIRECT_CONTAINER,
            Model::Indirect => ldp_types::INDIRECT_CONTAINER,
            Model::NonRdfSource => ldp_types::NON_RDF_SOURCE,
            Model::Acl => ldp_types::ACL_SOURCE,
        }
    }

    /// The model of an entity; `None` for a placeholder, a node and anything else.
    pub fn of_entity(entity: &Entity<'_>) -> Option<Model> {
        let type_name = entity.type_name();
        Model::ALL.into_iter().find(|model| model.type_name() == type_name)
    }

    /// True if it has children.
    pub fn is_container(self) -> bool {
        matches!(self, Model::Basic | Model::Direct | Model::Indirect)
    }

    /// True if its children make membership triples.
    pub fn has_members(self) -> bool {
        matches!(self, Model::Direct | Model::Indirect)
    }

    /// The classes of LDP that a resource of this model belongs to, the most general first; without the namespace.
    pub fn classes(self) -> &'static [&'static str] {
        match self {
            Model::RdfSource | Model::Acl => &["Resource", "RDFSource"],
            Model::Basic => &["Resource", "RDFSource", "Container", "BasicContainer"],
            Model::Direct => &["Resource", "RDFSource", "Container", "DirectContainer"],
            Model::Indirect => &["Resource", "RDFSource", "Container", "IndirectContainer"],
            Model::NonRdfSource => &["Resource", "NonRDFSource"],
        }
    }

    /// True if a resource of this model belongs to a class of LDP, given as an IRI.
    pub fn implies(self, class: &str) -> bool {
        class.strip_prefix(LDP).is_some_and(|name| self.classes().contains(&name))
    }

    /// The model that the headers ask for with `Link: <…>; rel="type"`.
    ///
    /// Errors: `invalid-argument` for two models, or a class of LDP that is none.
    pub fn asked(headers: &HeaderMap) -> Result<Option<Model>, Problem> {
        let mut asked: Option<Model> = None;
        for link in link::with_rel(headers, "type") {
            let Some(name) = link.target.strip_prefix(LDP) else { continue };
            let found = match name {
                "Resource" => continue,
                "RDFSource" => Model::RdfSource,
                "Container" | "BasicContainer" => Model::Basic,
                "DirectContainer" => Model::Direct,
                "IndirectContainer" => Model::Indirect,
                "NonRDFSource" => Model::NonRdfSource,
                _ => {
                    let text = format!("header link: <{}> is no interaction model of LDP", link.target);
                    return Err(Problem::invalid(text));
                }
            };
            asked = Some(match asked {
                None | Some(Model::RdfSource) => found,
                Some(known) if known == found || found == Model::RdfSource => known,
                Some(known) => {
                    let text = format!(
                        "header link: expected one interaction model, found {} and {}",
                        known.type_name(),
                        found.type_name()
                    );
                    return Err(Problem::invalid(text));
                }
            });
        }
        Ok(asked)
    }

    /// Checks that the headers of a PUT ask for nothing else than what a resource of this model is already.
    ///
    /// Errors: a refusal for another class of LDP.
    pub fn check_stays(self, headers: &HeaderMap) -> Result<(), Problem> {
        match link::with_rel(headers, "type")
            .find(|link| link.target.starts_with(LDP) && !self.implies(link.target))
        {
            Some(link) => Err(self.stays(link.target)),
            None => Ok(()),
        }
    }

    /// The refusal of another model for a resource of this one.
    pub fn stays(self, asked: &str) -> Problem {
        let reason =
            format!("the resource is an {}, and its interaction model never changes", self.type_name());
        Refusal::new(asked, reason).into_problem()
    }

    /// The model that classes of a body ask for. `ldp:RDFSource` and `ldp:Resource` do not ask for one, because each
    /// container is both.
    ///
    /// Errors: a refusal for two kinds of containers.
    pub fn in_body<'c>(classes: impl Iterator<Item = &'c NamedNode>) -> Result<Option<Model>, Refusal> {
        let mut found: Option<Model> = None;
        for class in classes {
            let model = match class.as_str().strip_prefix(LDP) {
                Some("DirectContainer") => Model::Direct,
                Some("IndirectContainer") => Model::Indirect,
                Some("Container" | "BasicContainer") => Model::Basic,
                _ => continue,
            };
            found = match found {
                None | Some(Model::Basic) => Some(model),
                Some(known) if model == known || model == Model::Basic => Some(known),
                Some(known) => {
                    return Err(Refusal::new(
                        format!("rdf:type {}", class.as_str()),
                        format!("the body asks for {} too; state one interaction model", known.type_name()),
                    ));
                }
            };
        }
        Ok(found)
    }
}
