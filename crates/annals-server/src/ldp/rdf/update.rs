//! SPARQL updates of one resource: the text, and the changes that it makes.

use std::collections::{HashMap, HashSet};

use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use spargebra::algebra::GraphPattern;
use spargebra::term::{
    GroundQuad, GroundQuadPattern, GroundTerm, GroundTermPattern, NamedNodePattern, Quad, QuadPattern,
    TermPattern,
};
use spargebra::{GraphUpdateOperation, SparqlParser};

use super::collector::{BlankNames, check_iri, check_literal, check_term, check_terms};
use super::matching::{Budget, Row};
use super::solutions::Solver;
use super::{RdfError, RdfErrorKind, RdfLimits, supported, text_scan};

/// The parser lists all that it expected.
const MESSAGE_CHARACTERS_MAX: usize = 300;

/// The net effect of an update: first remove, then add. No triple is in both, none twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Triples that the graph loses.
    pub removed: Vec<Triple>,
    /// Triples that it gets.
    pub added: Vec<Triple>,
}

/// A parsed update that the door can do. Operations apply in their order.
///
/// Supported: INSERT DATA, DELETE DATA, DELETE WHERE, and DELETE and INSERT with a WHERE of triples, FILTER, OPTIONAL,
/// UNION, MINUS, VALUES and BIND.
#[derive(Clone, Debug)]
pub struct Update {
    parsed: spargebra::Update,
}

/// The bytes that all terms of the text of an update take once prefixes and bases are resolved, before they are made.
///
/// Errors: those of [`Update::parse`].
pub fn expanded_bytes(text: &str, base: &str, limits: &RdfLimits) -> Result<usize, RdfError> {
    text_scan::check_update(text, base, limits)
}

impl Update {
    /// Relative IRIs and `<>` are resolved against `base`.
    ///
    /// Errors: `Syntax` with the place; `Unsupported` with the name of the operation; `TooLarge` over a bound.
    pub fn parse(text: &str, base: &str, limits: &RdfLimits) -> Result<Update, RdfError> {
        if text.len() > limits.bytes_max {
            let found = text.len();
            let text = format!(
                "expected an update of at most {} bytes, found {found}; send several",
                limits.bytes_max
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        text_scan::check_update(text, base, limits)?;
        let parser = SparqlParser::new().with_base_iri(base).map_err(|error| {
            let text = format!("expected an absolute IRI as base, found {base}: {error}; check the address");
            RdfError::new(RdfErrorKind::Syntax, text)
        })?;
        let parsed = parser.parse_update(text).map_err(|error| syntax_error(&error.to_string()))?;
        let mut count = 0;
        for operation in &parsed.operations {
            supported::check(operation)?;
            count += templates_count(operation);
        }
        if count > limits.triples_max {
            let text = format!("expected at most {} triples in an update, found {count}", limits.triples_max);
            return Err(RdfError::new(RdfErrorKind::TooLarge, text + "; send several updates"));
        }
        parsed.operations.iter().try_for_each(|operation| check_templates(operation, limits))?;
        Ok(Update { parsed })
    }

    /// True if the changes do not depend on the triples of the resource.
    pub fn is_ground(&self) -> bool {
        self.parsed.operations.iter().all(is_ground)
    }

    /// The changes of a ground update. A triple of `removed` may be missing in the resource, and one of `added` may be
    /// there already. `None` if the update is not ground.
    pub fn ground(&self) -> Option<Changes> {
        if !self.is_ground() {
            return None;
        }
        let mut net = Net::default();
        for operation in &self.parsed.operations {
            let step = ground_step(operation);
            for triple in step.removed {
                net.added.remove(&triple);
                net.removed.add(triple);
            }
            for triple in step.added {
                net.removed.remove(&triple);
                net.added.add(triple);
            }
        }
        Some(net.finish())
    }

    /// The changes of the update to a resource with the triples `graph`. All of `removed` are in the graph, none of
    /// `added` is. Each solution of a WHERE gets blank nodes of its own.
    ///
    /// Errors: `TooLarge` over `solutions_max`, `triples_max` or a bound of terms; `TimedOut` over `evaluation_time_max`.
    pub fn evaluate(&self, graph: &[Triple], limits: &RdfLimits) -> Result<Changes, RdfError> {
        let mut budget = Budget::new(limits);
        let mut net = Net::default();
        for operation in &self.parsed.operations {
            let step = self.step(operation, graph, &net, &mut budget)?;
            let touched: HashSet<&Triple> = step.removed.iter().chain(&step.added).collect();
            if touched.is_empty() {
                continue;
            }
            let mut present = HashSet::new();
            for triple in graph {
                budget.step()?;
                if touched.contains(triple) {
                    present.insert(triple);
                }
            }
            for triple in &step.removed {
                if !net.added.remove(triple) && present.contains(triple) {
                    net.removed.add(triple.clone());
                }
            }
            for triple in &step.added {
                if !net.removed.remove(triple) && !present.contains(triple) {
                    net.added.add(triple.clone());
                }
            }
        }
        Ok(net.finish())
    }

    /// What one operation removes and adds, given the effect of those before it.
    fn step(
        &self,
        operation: &GraphUpdateOperation,
        graph: &[Triple],
        before: &Net,
        budget: &mut Budget<'_>,
    ) -> Result<Changes, RdfError> {
        let GraphUpdateOperation::DeleteInsert { delete, insert, pattern, .. } = operation else {
            return Ok(ground_step(operation));
        };
        let earlier = before.added.order();
        let is_left = |triple: &&Triple| !before.removed.contains(triple);
        let current = graph.iter().filter(is_left).chain(earlier.iter().copied());
        let mut solver = Solver::new(&self.parsed, pattern, current, budget)?;
        let empty = solver.empty_row();
        let rows: Vec<Row> = solver.solve(pattern, &empty)?;
        let mut step = Changes::default();
        for row in rows {
            solver.budget.step()?;
            let term = |variable: &Variable| {
                solver.column(variable).and_then(|column| solver.terms.get(row[column]))
            };
            fill(delete, insert, &term, &mut step);
            let count = step.removed.len() + step.added.len();
            let max = solver.budget.limits.triples_max;
            if count > max {
                let text = format!("expected an update that changes at most {max} triples, found more");
                return Err(RdfError::new(RdfErrorKind::TooLarge, text + "; send several updates"));
            }
        }
        for triple in &step.added {
            let bytes = check_terms(triple, budget.limits)?;
            budget.make(bytes)?;
        }
        Ok(step)
    }
}

/// `error at 3:14: expected …` is the form of the parser.
fn syntax_error(message: &str) -> RdfError {
    let place = message.strip_prefix("error at ").and_then(|rest| {
        let (line, rest) = rest.split_once(':')?;
        let (column, rest) = rest.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?, rest.trim()))
    });
    let (place, found) = match place {
        Some((line, column, found)) => (Some((line, column)), found),
        None => (None, message),
    };
    let mut short: String = found.chars().take(MESSAGE_CHARACTERS_MAX).collect();
    if short.len() < found.len() {
        short.push('…');
    }
    let text =
        format!("expected a SPARQL update, the parser says: {short}; correct the update and send it again");
    let error = RdfError::new(RdfErrorKind::Syntax, text);
    match place {
        Some((line, column)) => error.at(line, column),
        None => error,
    }
}

fn templates_count(operation: &GraphUpdateOperation) -> usize {
    match operation {
        GraphUpdateOperation::InsertData { data } => data.len(),
        GraphUpdateOperation::DeleteData { data } => data.len(),
        GraphUpdateOperation::DeleteInsert { delete, insert, .. } => delete.len() + insert.len(),
        _ => 0,
    }
}

/// Refuses long terms. It copies none of them. Errors: `TooLarge`.
fn check_templates(operation: &GraphUpdateOperation, limits: &RdfLimits) -> Result<(), RdfError> {
    let predicate = |pattern: &NamedNodePattern| match pattern {
        NamedNodePattern::NamedNode(node) => check_iri(node, limits).map(drop),
        NamedNodePattern::Variable(_) => Ok(()),
    };
    match operation {
        GraphUpdateOperation::InsertData { data } => data.iter().try_for_each(|quad| {
            if let NamedOrBlankNode::NamedNode(node) = &quad.subject {
                check_iri(node, limits)?;
            }
            check_iri(&quad.predicate, limits)?;
            check_term(&quad.object, limits).map(drop)
        }),
        GraphUpdateOperation::DeleteData { data } => data.iter().try_for_each(|quad| {
            check_iri(&quad.subject, limits)?;
            check_iri(&quad.predicate, limits)?;
            match &quad.object {
                GroundTerm::NamedNode(node) => check_iri(node, limits).map(drop),
                GroundTerm::Literal(literal) => check_literal(literal, limits).map(drop),
            }
        }),
        GraphUpdateOperation::DeleteInsert { delete, insert, .. } => {
            let ground = |pattern: &GroundTermPattern| match pattern {
                GroundTermPattern::NamedNode(node) => check_iri(node, limits).map(drop),
                GroundTermPattern::Literal(literal) => check_literal(literal, limits).map(drop),
                GroundTermPattern::Variable(_) => Ok(()),
            };
            let term = |pattern: &TermPattern| match pattern {
                TermPattern::NamedNode(node) => check_iri(node, limits).map(drop),
                TermPattern::Literal(literal) => check_literal(literal, limits).map(drop),
                TermPattern::BlankNode(_) | TermPattern::Variable(_) => Ok(()),
            };
            for quad in delete {
                ground(&quad.subject).and(predicate(&quad.predicate)).and(ground(&quad.object))?;
            }
            for quad in insert {
                term(&quad.subject).and(predicate(&quad.predicate)).and(term(&quad.object))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn is_ground(operation: &GraphUpdateOperation) -> bool {
    match operation {
        GraphUpdateOperation::InsertData { .. } | GraphUpdateOperation::DeleteData { .. } => true,
        GraphUpdateOperation::DeleteInsert { delete, insert, pattern, .. } => {
            let is_named = |pattern: &NamedNodePattern| matches!(pattern, NamedNodePattern::NamedNode(_));
            let is_ground = |term: &GroundTermPattern| !matches!(term, GroundTermPattern::Variable(_));
            let is_fixed = |term: &TermPattern| !matches!(term, TermPattern::Variable(_));
            matches!(&**pattern, GraphPattern::Bgp { patterns } if patterns.is_empty())
                && delete.iter().all(|quad| {
                    is_ground(&quad.subject) && is_named(&quad.predicate) && is_ground(&quad.object)
                })
                && insert.iter().all(|quad| {
                    is_fixed(&quad.subject) && is_named(&quad.predicate) && is_fixed(&quad.object)
                })
        }
        _ => false,
    }
}

/// What an operation does once, without terms for variables.
fn ground_step(operation: &GraphUpdateOperation) -> Changes {
    let mut step = Changes::default();
    match operation {
        GraphUpdateOperation::InsertData { data } => {
            let mut names = BlankNames::default();
            step.added = data.iter().map(|quad| inserted(quad, &mut names)).collect();
        }
        GraphUpdateOperation::DeleteData { data } => step.removed = data.iter().map(deleted).collect(),
        GraphUpdateOperation::DeleteInsert { delete, insert, .. } => {
            fill(delete, insert, &|_| None, &mut step)
        }
        // The check of the update has refused the others.
        _ => {}
    }
    step
}

fn inserted(quad: &Quad, names: &mut BlankNames) -> Triple {
    let subject = match &quad.subject {
        NamedOrBlankNode::BlankNode(label) => names.name(label.clone()).into(),
        named => named.clone(),
    };
    let object = match &quad.object {
        Term::BlankNode(label) => names.name(label.clone()).into(),
        object => object.clone(),
    };
    Triple { subject, predicate: quad.predicate.clone(), object }
}

fn deleted(quad: &GroundQuad) -> Triple {
    let object = match &quad.object {
        GroundTerm::NamedNode(node) => node.clone().into(),
        GroundTerm::Literal(literal) => literal.clone().into(),
    };
    Triple { subject: quad.subject.clone().into(), predicate: quad.predicate.clone(), object }
}

/// The triples of the templates for one solution. A template whose variable has no term, or a term that cannot stand
/// there, gives no triple.
fn fill(
    delete: &[GroundQuadPattern],
    insert: &[QuadPattern],
    solution: &impl Fn(&Variable) -> Option<Term>,
    step: &mut Changes,
) {
    let ground = |pattern: &GroundTermPattern| match pattern {
        GroundTermPattern::NamedNode(node) => Some(node.clone().into()),
        GroundTermPattern::Literal(literal) => Some(literal.clone().into()),
        GroundTermPattern::Variable(variable) => solution(variable),
    };
    for quad in delete {
        step.removed.extend(triple(
            ground(&quad.subject),
            predicate(&quad.predicate, solution),
            ground(&quad.object),
        ));
    }
    let mut names = BlankNames::default();
    let mut term = |pattern: &TermPattern| match pattern {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::BlankNode(label) => Some(names.name(label.clone()).into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Variable(variable) => solution(variable),
    };
    for quad in insert {
        step.added.extend(triple(
            term(&quad.subject),
            predicate(&quad.predicate, solution),
            term(&quad.object),
        ));
    }
}

fn predicate(pattern: &NamedNodePattern, solution: &impl Fn(&Variable) -> Option<Term>) -> Option<NamedNode> {
    match pattern {
        NamedNodePattern::NamedNode(node) => Some(node.clone()),
        NamedNodePattern::Variable(variable) => match solution(variable)? {
            Term::NamedNode(node) => Some(node),
            _ => None,
        },
    }
}

fn triple(subject: Option<Term>, predicate: Option<NamedNode>, object: Option<Term>) -> Option<Triple> {
    let subject = match subject? {
        Term::NamedNode(node) => node.into(),
        Term::BlankNode(node) => NamedOrBlankNode::from(node),
        Term::Literal(_) => return None,
    };
    Some(Triple { subject, predicate: predicate?, object: object? })
}

/// The effect of the operations so far.
#[derive(Default)]
struct Net {
    removed: Ordered,
    added: Ordered,
}

impl Net {
    fn finish(self) -> Changes {
        Changes { removed: self.removed.finish(), added: self.added.finish() }
    }
}

/// A set of triples that keeps their order.
#[derive(Default)]
struct Ordered {
    places: HashMap<Triple, usize>,
    next: usize,
}

impl Ordered {
    fn add(&mut self, triple: Triple) {
        self.next += 1;
        self.places.entry(triple).or_insert(self.next);
    }

    /// True if it was there.
    fn remove(&mut self, triple: &Triple) -> bool {
        // Most updates only add: an empty set need not compute the hash of the triple.
        !self.places.is_empty() && self.places.remove(triple).is_some()
    }

    fn contains(&self, triple: &Triple) -> bool {
        self.places.contains_key(triple)
    }

    fn order(&self) -> Vec<&Triple> {
        let mut triples: Vec<(&Triple, &usize)> = self.places.iter().collect();
        triples.sort_by_key(|(_, place)| **place);
        triples.into_iter().map(|(triple, _)| triple).collect()
    }

    fn finish(self) -> Vec<Triple> {
        let mut triples: Vec<(Triple, usize)> = self.places.into_iter().collect();
        triples.sort_by_key(|(_, place)| *place);
        triples.into_iter().map(|(triple, _)| triple).collect()
    }
}
