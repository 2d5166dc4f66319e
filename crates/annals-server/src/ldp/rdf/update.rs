//! SPARQL updates of one resource: the text, and the changes that it makes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use oxrdf::{NamedOrBlankNode, Term, Triple};
use spareval::{DeleteInsertQuad, QueryEvaluationError, QueryEvaluator};
use spargebra::algebra::GraphPattern;
use spargebra::term::{GroundQuad, GroundTerm, GroundTermPattern, NamedNodePattern, Quad, TermPattern};
use spargebra::{GraphUpdateOperation, SparqlParser};

use super::budget::Budget;
use super::collector::{BlankNames, check_iri, check_literal, check_term, check_terms};
use super::counted::Counted;
use super::dataset::Dataset;
use super::{RdfError, RdfErrorKind, RdfLimits, supported, text_scan};

/// The parser lists all that it expected.
const MESSAGE_CHARACTERS_MAX: usize = 300;

/// The evaluator is recursive, and each level of a WHERE takes much of the stack. Memory is used only as far as it gets.
const STACK_BYTES: usize = 64 << 20;

/// The net effect of an update: first remove, then add. No triple is in both, none twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Triples that the graph loses.
    pub removed: Vec<Triple>,
    /// Triples that it gets.
    pub added: Vec<Triple>,
}

impl Changes {
    fn take(&mut self, quad: DeleteInsertQuad) {
        match quad {
            DeleteInsertQuad::Delete(quad) => self.removed.push(quad.into()),
            DeleteInsertQuad::Insert(quad) => self.added.push(quad.into()),
        }
    }
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
        let mut parsed = parser.parse_update(text).map_err(|error| syntax_error(&error.to_string()))?;
        let mut count = 0;
        for operation in &mut parsed.operations {
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

    /// True if no operation removes a triple, whatever the resource has.
    pub fn is_adding(&self) -> bool {
        self.parsed.operations.iter().all(|operation| match operation {
            GraphUpdateOperation::InsertData { .. } => true,
            GraphUpdateOperation::DeleteInsert { delete, .. } => delete.is_empty(),
            _ => false,
        })
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
        let budget = Arc::new(Budget::new(limits));
        let mut net = Net::default();
        for operation in &self.parsed.operations {
            let step = self.step(operation, graph, &net, &budget)?;
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

    /// The statements that one operation removes and adds, given the effect of those before it.
    fn step(
        &self,
        operation: &GraphUpdateOperation,
        graph: &[Triple],
        before: &Net,
        budget: &Arc<Budget>,
    ) -> Result<Changes, RdfError> {
        if is_ground(operation) {
            return Ok(ground_step(operation));
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("annals-sparql".to_owned()).stack_size(STACK_BYTES);
            let step = thread.spawn_scoped(scope, || self.matched_step(operation, graph, before, budget));
            match step.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(step)) => step,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => {
                    let text = format!(
                        "expected a thread to evaluate the update, found none: {error}; send it later"
                    );
                    Err(RdfError::new(RdfErrorKind::TimedOut, text))
                }
            }
        })
    }

    /// As `step`, for an operation with a pattern. It needs a large stack.
    fn matched_step(
        &self,
        operation: &GraphUpdateOperation,
        graph: &[Triple],
        before: &Net,
        budget: &Arc<Budget>,
    ) -> Result<Changes, RdfError> {
        let GraphUpdateOperation::DeleteInsert { delete, insert, pattern, .. } = operation else {
            return Ok(Changes::default());
        };
        let earlier = before.added.order();
        let is_left = |triple: &&Triple| !before.removed.contains(triple);
        let current = graph.iter().filter(is_left).chain(earlier);
        let mut pattern = pattern.clone();
        let counted = Counted::of(&mut pattern)?;
        let dataset = Dataset::read(current, &counted.constants, budget)?;
        let base = self.parsed.base_iri.clone();
        let quads = counted
            .evaluator(budget)
            .prepare_delete_insert(delete.clone(), insert.clone(), base, None, &pattern)
            .execute(dataset)
            .map_err(|error| failed(budget, &error))?;
        let mut step = Changes::default();
        for quad in quads {
            step.take(quad.map_err(|error| failed(budget, &error))?);
            let max = budget.limits.triples_max;
            if step.removed.len() + step.added.len() > max {
                let text = format!("expected an update that changes at most {max} triples, found more");
                return Err(RdfError::new(RdfErrorKind::TooLarge, text + "; send several updates"));
            }
        }
        for triple in &step.added {
            budget.make(check_terms(triple, &budget.limits))?;
        }
        // The evaluator drops a refusal in an expression.
        budget.finish()?;
        Ok(step)
    }
}

fn failed(budget: &Budget, error: &QueryEvaluationError) -> RdfError {
    let text =
        format!("expected a WHERE that can be evaluated, the evaluator says: {error}; write it differently");
    budget.finish().err().unwrap_or_else(|| RdfError::new(RdfErrorKind::Unsupported, text))
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

/// The effect of an operation that is done once, without terms for variables.
fn ground_step(operation: &GraphUpdateOperation) -> Changes {
    let mut step = Changes::default();
    match operation {
        GraphUpdateOperation::InsertData { data } => {
            let mut names = BlankNames::default();
            step.added = data.iter().map(|quad| inserted(quad, &mut names)).collect();
        }
        GraphUpdateOperation::DeleteData { data } => step.removed = data.iter().map(deleted).collect(),
        GraphUpdateOperation::DeleteInsert { delete, insert, pattern, .. } => {
            let nothing = oxrdf::Dataset::new();
            let quads = QueryEvaluator::new()
                .prepare_delete_insert(delete.clone(), insert.clone(), None, None, pattern)
                .execute(&nothing);
            for quad in quads.expect("a WHERE without patterns is evaluated") {
                step.take(quad.expect("a WHERE without patterns has one solution"));
            }
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
