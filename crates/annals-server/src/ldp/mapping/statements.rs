//! The triples of a client as properties and links of entities: sorted by subject, and checked.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use annals::{Entity, Value};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};

use super::base::{Base, Place};
use super::constraints::{Refusal, check_predicate, unknown_term};
use super::facts;
use super::membership;
use super::model::Model;
use super::path::Path;
use super::rule_check::{check_objects, not_once};
use super::term::literal_value;
use super::triples::Sink;
use super::view::View;
use super::vocabulary::{
    CONTAINS, HAS_MEMBER_RELATION, INSERTED_CONTENT_RELATION, IS_MEMBER_OF_RELATION, LDP, MEMBER,
    MEMBER_SUBJECT, MEMBERSHIP_RESOURCE, TYPE,
};
use crate::ldp_types::CONTAINS as CONTAINS_TYPE;
use crate::protocol::problem::Problem;

/// A node of the graph of a resource, other than the resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeName {
    /// A blank node, by the label of the request.
    Blank(String),
    /// An IRI, as it is stored.
    Iri(String),
}

/// The subject of a triple.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The resource.
    Resource,
    /// Another node of its graph.
    Node(NodeName),
}

/// The object of a triple.
#[derive(Clone, Debug)]
pub enum Object {
    /// A value of a property.
    Value(Value),
    /// A resource of this server.
    Resource(Path),
    /// A blank node of the same graph.
    Blank(String),
}

/// The statements of a graph about one subject.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// Values by predicate.
    pub values: BTreeMap<String, Vec<Value>>,
    /// Predicates with resources of this server.
    pub links: BTreeSet<(String, Path)>,
    /// Predicates with blank nodes of the same graph.
    pub blanks: BTreeSet<(String, String)>,
}

/// A graph by subject.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Those about the resource.
    pub own: Statements,
    /// Those about other nodes; each blank node is there.
    pub nodes: BTreeMap<NodeName, Statements>,
}

/// The subject of a triple in the graph of the resource at a path.
pub fn subject_of(base: &Base, path: &Path, subject: &NamedOrBlankNode) -> Subject {
    match subject {
        NamedOrBlankNode::NamedNode(node) => match base.place(node.as_str()) {
            Place::Resource(place) if place == *path => Subject::Resource,
            _ => Subject::Node(NodeName::Iri(base.stored(node.as_str()))),
        },
        NamedOrBlankNode::BlankNode(node) => Subject::Node(NodeName::Blank(node.as_str().to_owned())),
    }
}

/// The object of a triple in the graph of the resource at a path. ACLs refer to resources by IRIs: links would show
/// that the ACL is there, and outlive what they name.
///
/// Errors: a refusal for a term that no value has, and for a predicate that is too long.
pub fn object_of(base: &Base, path: &Path, triple: &Triple) -> Result<Object, Refusal> {
    check_predicate(triple)?;
    match &triple.object {
        Term::NamedNode(node) => Ok(match base.place(node.as_str()) {
            // The relations of a container stay IRIs, wherever they are.
            Place::Resource(to) if !is_relation(triple.predicate.as_str()) && !path.is_acl() => {
                Object::Resource(to)
            }
            _ => Object::Value(Value::Iri(base.stored(node.as_str()).into())),
        }),
        Term::BlankNode(node) => Ok(Object::Blank(node.as_str().to_owned())),
        Term::Literal(literal) => literal_value(literal).map(Object::Value),
        #[allow(unreachable_patterns)]
        other => Err(unknown_term(triple, other)),
    }
}

fn is_relation(predicate: &str) -> bool {
    [HAS_MEMBER_RELATION, IS_MEMBER_OF_RELATION, INSERTED_CONTENT_RELATION].contains(&predicate)
}

/// The classes that a graph gives the resource at a path.
pub fn classes<'t>(base: &Base, path: &Path, triples: &'t [Triple]) -> impl Iterator<Item = &'t NamedNode> {
    triples.iter().filter_map(move |triple| match &triple.object {
        Term::NamedNode(class)
            if triple.predicate.as_str() == TYPE
                && subject_of(base, path, &triple.subject) == Subject::Resource =>
        {
            Some(class)
        }
        _ => None,
    })
}

/// Tells the statements of clients from those that the server makes.
pub struct Managed<'v> {
    view: View<'v>,
    path: &'v Path,
    model: Model,
    /// The resource, if it is there.
    entity: Option<&'v Entity<'v>>,
    /// The membership triples of the resource, once they are needed.
    members: Option<HashSet<Triple>>,
}

impl<'v> Managed<'v> {
    /// For the resource at a path, which has a model, or gets it.
    pub fn new(view: View<'v>, path: &'v Path, model: Model, entity: Option<&'v Entity<'v>>) -> Managed<'v> {
        Managed { view, path, model, entity, members: None }
    }

    /// True if the server makes this statement, as it is; it is left out then.
    ///
    /// Errors: a refusal if the server makes statements of this form, and not this one.
    pub fn makes(&mut self, triple: &Triple) -> Result<bool, Problem> {
        let refuse = |reason: &str| Refusal::of_triple(triple, reason).into_problem();
        let is_own = subject_of(self.view.base, self.path, &triple.subject) == Subject::Resource;
        match (triple.predicate.as_str(), &triple.object) {
            (CONTAINS, object) => {
                if is_own && self.contains(object)? {
                    return Ok(true);
                }
                Err(refuse(
                    "the server makes the statements with ldp:contains; create the resource with POST or PUT instead",
                ))
            }
            (TYPE, Term::NamedNode(class)) if is_own => {
                if self.model.implies(class.as_str()) {
                    return Ok(true);
                }
                if Model::NonRdfSource.implies(class.as_str()) || is_class(class.as_str()) {
                    return Err(refuse("the interaction model of a resource never changes"));
                }
                Ok(false)
            }
            (HAS_MEMBER_RELATION | IS_MEMBER_OF_RELATION, Term::NamedNode(relation))
                if relation.as_str() == CONTAINS =>
            {
                Err(refuse("ldp:contains cannot be the relation of members; choose another predicate"))
            }
            (predicate, _) if is_own && self.model == Model::NonRdfSource && facts::is_fact(predicate) => {
                if self.entity.is_some_and(|binary| facts::makes(binary, triple)) {
                    return Ok(true);
                }
                Err(refuse(
                    "the server makes this statement from the bytes and the headers of the binary; PUT the binary instead",
                ))
            }
            _ => self.is_membership(triple),
        }
    }

    fn contains(&self, child: &Term) -> Result<bool, Problem> {
        let (Some(entity), Term::NamedNode(child)) = (self.entity, child) else { return Ok(false) };
        let Place::Resource(path) = self.view.base.place(child.as_str()) else { return Ok(false) };
        let Some(child) = self.view.snapshot.entity(&path.id())? else { return Ok(false) };
        if !self.view.is_readable(&child)? {
            return Ok(false);
        }
        let mut parents = child.neighbors(annals::Direction::In, Some(CONTAINS_TYPE)).entities();
        Ok(parents.next().transpose()?.is_some_and(|parent| parent.id() == entity.id()))
    }

    fn is_membership(&mut self, triple: &Triple) -> Result<bool, Problem> {
        let Some(entity) = self.entity else { return Ok(false) };
        if self.members.is_none() {
            let mut members = HashSet::new();
            let mut sink = |triple: oxrdf::TripleRef<'_>| {
                members.insert(triple.into_owned());
                Ok(())
            };
            let sink: &mut Sink<'_> = &mut sink;
            if let Some(subject) = self.view.node(entity) {
                membership::each_triple(self.view, entity, &subject, sink)?;
            }
            self.members = Some(members);
        }
        Ok(self.members.as_ref().is_some_and(|members| members.contains(triple)))
    }
}

fn is_class(class: &str) -> bool {
    class.starts_with(LDP)
        && [Model::Basic, Model::Direct, Model::Indirect].iter().any(|model| model.implies(class))
}

impl Graph {
    /// The statements of a client about the resource at a path, without those that the server makes.
    ///
    /// Errors: refusals.
    pub fn of(triples: &[Triple], managed: &mut Managed<'_>) -> Result<Graph, Problem> {
        let (view, path) = (managed.view, managed.path);
        let mut graph = Graph::default();
        for triple in triples {
            if managed.makes(triple)? {
                continue;
            }
            let object = object_of(view.base, path, triple).map_err(|refusal| refusal.into_problem())?;
            if let Object::Blank(label) = &object {
                graph.nodes.entry(NodeName::Blank(label.clone())).or_default();
            }
            let statements = match subject_of(view.base, path, &triple.subject) {
                Subject::Resource => &mut graph.own,
                Subject::Node(name) => graph.nodes.entry(name).or_default(),
            };
            statements.add(triple.predicate.as_str(), object);
        }
        graph.complete(managed)?;
        Ok(graph)
    }

    /// Adds what a direct or an indirect container must say and does not.
    fn complete(&mut self, managed: &Managed<'_>) -> Result<(), Problem> {
        if !managed.model.has_members() {
            return Ok(());
        }
        let own = &mut self.own;
        check_objects(own)?;
        match own.count(MEMBERSHIP_RESOURCE) {
            0 => own.add(MEMBERSHIP_RESOURCE, Object::Resource(managed.path.clone())),
            1 => {}
            count => return Err(not_once(MEMBERSHIP_RESOURCE, count)),
        }
        match own.count(HAS_MEMBER_RELATION) + own.count(IS_MEMBER_OF_RELATION) {
            0 => own.add(HAS_MEMBER_RELATION, Object::Value(Value::Iri(MEMBER.into()))),
            1 => {}
            count => return Err(not_once(HAS_MEMBER_RELATION, count)),
        }
        if managed.model == Model::Indirect {
            match own.count(INSERTED_CONTENT_RELATION) {
                0 => {
                    own.add(INSERTED_CONTENT_RELATION, Object::Value(Value::Iri(MEMBER_SUBJECT.into())));
                }
                1 => {}
                count => return Err(not_once(INSERTED_CONTENT_RELATION, count)),
            }
        }
        Ok(())
    }
}

impl Statements {
    /// Adds a statement.
    pub fn add(&mut self, predicate: &str, object: Object) {
        match object {
            Object::Value(value) => self.values.entry(predicate.to_owned()).or_default().push(value),
            Object::Resource(path) => {
                self.links.insert((predicate.to_owned(), path));
            }
            Object::Blank(label) => {
                self.blanks.insert((predicate.to_owned(), label));
            }
        }
    }

    fn count(&self, predicate: &str) -> usize {
        let links = self.links.iter().filter(|(known, _)| known == predicate).count();
        let blanks = self.blanks.iter().filter(|(known, _)| known == predicate).count();
        links + blanks + self.values.get(predicate).map_or(0, Vec::len)
    }

    /// The values as properties.
    pub fn properties(&self) -> annals::Result<Vec<(std::sync::Arc<str>, Value)>> {
        let property = |(name, values): (&String, &Vec<Value>)| {
            let value = match &values[..] {
                [value] => value.clone(),
                values => Value::set(values.iter().cloned())?,
            };
            Ok((name.as_str().into(), value))
        };
        self.values.iter().map(property).collect()
    }
}
