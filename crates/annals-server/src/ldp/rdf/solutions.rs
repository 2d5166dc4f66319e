//! Finds the solutions of a WHERE.
//!
//! Each part of the algebra of SPARQL gives all its solutions. Every row is counted and every step looks at the clock now
//! and then, so that a product of patterns ends in an error and not in a full memory.
//! Source: <https://www.w3.org/TR/sparql11-query/#sparqlAlgebra>.

use std::collections::HashMap;

use oxrdf::{NamedOrBlankNodeRef, TermRef, Triple, Variable};
use spareval::QueryEvaluator;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::expression::Node;
use super::matching::{Budget, Matches, Row, Terms, UNBOUND};
use super::supported::parts_of;
use super::{RdfError, RdfErrorKind};

const VARIABLES_MAX: usize = 64;

/// The triple patterns and variables of a WHERE, in no order.
#[derive(Default)]
struct Parts<'p> {
    triples: Vec<&'p TriplePattern>,
    /// The column of each variable; of a blank node too, which is a variable without a name.
    columns: HashMap<String, usize>,
}

/// One evaluation of a WHERE.
pub(super) struct Solver<'p, 'g, 'b, 'l> {
    pub(super) terms: Terms<'g>,
    matches: Matches,
    columns: HashMap<String, usize>,
    pub(super) budget: &'b mut Budget<'l>,
    pub(super) update: &'p spargebra::Update,
    pub(super) evaluator: QueryEvaluator,
    pub(super) now: Option<oxrdf::Term>,
}

/// A place of a triple pattern.
#[derive(Clone, Copy)]
enum Slot {
    Term(u32),
    Column(usize),
}

impl<'p, 'g, 'b, 'l> Solver<'p, 'g, 'b, 'l> {
    /// Reads what `pattern` may match of `graph`. Errors: `TooLarge`, `TimedOut`.
    pub(super) fn new(
        update: &'p spargebra::Update,
        pattern: &'p GraphPattern,
        graph: impl Iterator<Item = &'g Triple>,
        budget: &'b mut Budget<'l>,
    ) -> Result<Solver<'p, 'g, 'b, 'l>, RdfError> {
        let mut parts = Parts::default();
        parts.add(pattern);
        if parts.columns.len() > VARIABLES_MAX {
            let text = format!(
                "expected at most {VARIABLES_MAX} variables in a WHERE, found more; send several updates"
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        let mut terms = Terms::default();
        let mut relevant = Vec::new();
        for triple in graph {
            budget.step()?;
            if parts.triples.iter().any(|pattern| may_match(pattern, triple)) {
                relevant.push(triple);
            }
        }
        let matches = Matches::read(relevant.into_iter(), &mut terms, budget)?;
        let evaluator = QueryEvaluator::new();
        Ok(Solver { terms, matches, columns: parts.columns, budget, update, evaluator, now: None })
    }

    /// The row before anything is bound.
    pub(super) fn empty_row(&self) -> Row {
        vec![UNBOUND; self.columns.len()].into()
    }

    pub(super) fn column(&self, variable: &Variable) -> Option<usize> {
        self.columns.get(variable.as_str()).copied()
    }

    /// The solutions that agree with `seed`. Errors: `TooLarge`, `TimedOut`.
    pub(super) fn solve(&mut self, pattern: &'p GraphPattern, seed: &Row) -> Result<Vec<Row>, RdfError> {
        match pattern {
            GraphPattern::Bgp { patterns } => self.triples(patterns, seed),
            GraphPattern::Join { left, right } => {
                let left = self.solve(left, seed)?;
                let right = self.solve(right, seed)?;
                self.join(&left, &right)
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                let left = self.solve(left, seed)?;
                let right = self.solve(right, seed)?;
                self.left_join(&left, &right, expression.as_ref())
            }
            GraphPattern::Filter { expr, inner } => {
                let node = Node::of(expr);
                let mut kept = Vec::new();
                for row in self.solve(inner, seed)? {
                    self.budget.step()?;
                    if self.is_true(&node, &row)? {
                        kept.push(row);
                    }
                }
                Ok(kept)
            }
            GraphPattern::Union { left, right } => {
                let mut rows = self.solve(left, seed)?;
                for row in self.solve(right, seed)? {
                    self.budget.row(rows.len(), 0)?;
                    rows.push(row);
                }
                Ok(rows)
            }
            GraphPattern::Extend { inner, variable, expression } => {
                self.extend(inner, variable, expression, seed)
            }
            GraphPattern::Minus { left, right } => {
                let left = self.solve(left, seed)?;
                let right = self.solve(right, seed)?;
                self.minus(left, &right, seed)
            }
            GraphPattern::Values { variables, bindings } => self.values(variables, bindings, seed),
            _ => Err(RdfError::new(
                RdfErrorKind::Unsupported,
                format!("expected a pattern of triples, found {pattern}"),
            )),
        }
    }

    fn triples(&mut self, patterns: &[TriplePattern], seed: &Row) -> Result<Vec<Row>, RdfError> {
        let mut left = Vec::new();
        for pattern in patterns {
            // A term that the graph does not have matches nothing.
            let Some(slots) = self.slots(pattern) else { return Ok(Vec::new()) };
            left.push(slots);
        }
        let mut is_bound: Vec<bool> = seed.iter().map(|term| *term != UNBOUND).collect();
        let mut rows = vec![seed.clone()];
        while !left.is_empty() && !rows.is_empty() {
            let known = |slots: &[Slot; 3]| slots.iter().filter(|slot| is_known(slot, &is_bound)).count();
            // Order: the pattern with the most known places first, so that few rows are made in between.
            let best = (0..left.len()).rev().max_by_key(|at| known(&left[*at])).expect("one is left");
            let slots = left.remove(best);
            rows = self.extend_rows(&rows, slots)?;
            for slot in slots {
                if let Slot::Column(column) = slot {
                    is_bound[column] = true;
                }
            }
        }
        Ok(rows)
    }

    fn extend_rows(&mut self, rows: &[Row], slots: [Slot; 3]) -> Result<Vec<Row>, RdfError> {
        let mut extended = Vec::new();
        for row in rows {
            let known = slots.map(|slot| match slot {
                Slot::Term(term) => Some(term),
                Slot::Column(column) => Some(row[column]).filter(|term| *term != UNBOUND),
            });
            let mut consider = |triple: &[u32; 3], extended: &mut Vec<Row>| {
                self.budget.step()?;
                if known.iter().zip(triple).any(|(known, found)| known.is_some_and(|known| known != *found)) {
                    return Ok(());
                }
                let mut new = row.clone();
                for (slot, found) in slots.iter().zip(triple) {
                    if let Slot::Column(column) = slot {
                        // One variable in two places of a pattern.
                        if new[*column] != UNBOUND && new[*column] != *found {
                            return Ok(());
                        }
                        new[*column] = *found;
                    }
                }
                self.budget.row(extended.len(), new.len())?;
                extended.push(new);
                Ok(())
            };
            match self.matches.candidates(known) {
                Some(list) => {
                    for at in list {
                        consider(&self.matches.triples[*at as usize], &mut extended)?;
                    }
                }
                None => {
                    for triple in &self.matches.triples {
                        consider(triple, &mut extended)?;
                    }
                }
            }
        }
        Ok(extended)
    }

    fn slots(&self, pattern: &TriplePattern) -> Option<[Slot; 3]> {
        let predicate = match &pattern.predicate {
            NamedNodePattern::NamedNode(node) => Slot::Term(self.terms.find(node.as_ref().into())?),
            NamedNodePattern::Variable(variable) => Slot::Column(self.column(variable)?),
        };
        Some([self.slot(&pattern.subject)?, predicate, self.slot(&pattern.object)?])
    }

    fn slot(&self, pattern: &TermPattern) -> Option<Slot> {
        let term: TermRef<'_> = match pattern {
            TermPattern::NamedNode(node) => node.as_ref().into(),
            TermPattern::Literal(literal) => literal.as_ref().into(),
            TermPattern::BlankNode(node) => {
                return self.columns.get(&node.to_string()).copied().map(Slot::Column);
            }
            TermPattern::Variable(variable) => return self.column(variable).map(Slot::Column),
        };
        self.terms.find(term).map(Slot::Term)
    }

    fn join(&mut self, left: &[Row], right: &[Row]) -> Result<Vec<Row>, RdfError> {
        let lookup = Lookup::new(left, right);
        let mut joined = Vec::new();
        for row in left {
            for at in lookup.candidates(row) {
                self.budget.step()?;
                if let Some(merged) = merge(row, &right[*at]) {
                    self.budget.row(joined.len(), merged.len())?;
                    joined.push(merged);
                }
            }
        }
        Ok(joined)
    }

    fn left_join(
        &mut self,
        left: &[Row],
        right: &[Row],
        expression: Option<&'p Expression>,
    ) -> Result<Vec<Row>, RdfError> {
        let node = expression.map(Node::of);
        let lookup = Lookup::new(left, right);
        let mut joined = Vec::new();
        for row in left {
            let before = joined.len();
            for at in lookup.candidates(row) {
                self.budget.step()?;
                let Some(merged) = merge(row, &right[*at]) else { continue };
                let is_kept = node.as_ref().map_or(Ok(true), |node| self.is_true(node, &merged))?;
                if is_kept {
                    self.budget.row(joined.len(), merged.len())?;
                    joined.push(merged);
                }
            }
            if joined.len() == before {
                self.budget.row(joined.len(), row.len())?;
                joined.push(row.clone());
            }
        }
        Ok(joined)
    }

    fn extend(
        &mut self,
        inner: &'p GraphPattern,
        variable: &Variable,
        expression: &'p Expression,
        seed: &Row,
    ) -> Result<Vec<Row>, RdfError> {
        let node = Node::of(expression);
        let column = self.column(variable).expect("all variables have columns");
        let mut rows = self.solve(inner, seed)?;
        for row in &mut rows {
            self.budget.step()?;
            if row[column] == UNBOUND
                && let Some(term) = self.value(&node, row)?
            {
                row[column] = self.terms.make(term);
            }
        }
        Ok(rows)
    }

    /// Leaves out rows that agree with a row of `right` and share a variable with it.
    fn minus(&mut self, left: Vec<Row>, right: &[Row], seed: &Row) -> Result<Vec<Row>, RdfError> {
        let lookup = Lookup::new(&left, right);
        let mut kept = Vec::new();
        for row in left {
            let mut is_left_out = false;
            for at in lookup.candidates(&row) {
                self.budget.step()?;
                let other = &right[*at];
                let shares = |column: usize| {
                    seed[column] == UNBOUND && row[column] != UNBOUND && other[column] != UNBOUND
                };
                if merge(&row, other).is_some() && (0..row.len()).any(shares) {
                    is_left_out = true;
                    break;
                }
            }
            if !is_left_out {
                kept.push(row);
            }
        }
        Ok(kept)
    }

    fn values(
        &mut self,
        variables: &[Variable],
        bindings: &[Vec<Option<GroundTerm>>],
        seed: &Row,
    ) -> Result<Vec<Row>, RdfError> {
        let columns: Vec<usize> = variables
            .iter()
            .map(|variable| self.column(variable).expect("all variables have columns"))
            .collect();
        let mut rows = Vec::new();
        for binding in bindings {
            self.budget.step()?;
            let mut row = self.empty_row();
            for (column, term) in columns.iter().zip(binding) {
                if let Some(term) = term {
                    row[*column] = self.terms.make(term.clone().into());
                }
            }
            if let Some(row) = merge(&row, seed) {
                self.budget.row(rows.len(), row.len())?;
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

fn is_known(slot: &Slot, is_bound: &[bool]) -> bool {
    match slot {
        Slot::Term(_) => true,
        Slot::Column(column) => is_bound[*column],
    }
}

/// Both rows as one, if no variable has two terms.
fn merge(left: &Row, right: &Row) -> Option<Row> {
    let mut merged = left.clone();
    for (cell, term) in merged.iter_mut().zip(right.iter()) {
        match (*cell, *term) {
            (_, UNBOUND) => {}
            (UNBOUND, term) => *cell = term,
            (cell, term) if cell == term => {}
            _ => return None,
        }
    }
    Some(merged)
}

/// The rows of the right side by the terms of the variables that every row of both sides has.
struct Lookup {
    shared: Vec<usize>,
    rows: HashMap<Vec<u32>, Vec<usize>>,
}

impl Lookup {
    fn new(left: &[Row], right: &[Row]) -> Lookup {
        let width = right.first().map_or(0, |row| row.len());
        let is_shared = |column: &usize| left.iter().chain(right).all(|row| row[*column] != UNBOUND);
        let shared: Vec<usize> = (0..width).filter(is_shared).collect();
        let mut rows: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for (at, row) in right.iter().enumerate() {
            rows.entry(key(row, &shared)).or_default().push(at);
        }
        Lookup { shared, rows }
    }

    fn candidates(&self, row: &Row) -> &[usize] {
        self.rows.get(&key(row, &self.shared)).map_or(&[], Vec::as_slice)
    }
}

fn key(row: &Row, columns: &[usize]) -> Vec<u32> {
    columns.iter().map(|column| row[*column]).collect()
}

/// Compares only what is no variable.
fn may_match(pattern: &TriplePattern, triple: &Triple) -> bool {
    let is_subject = match &pattern.subject {
        TermPattern::NamedNode(node) => {
            triple.subject.as_ref() == NamedOrBlankNodeRef::NamedNode(node.as_ref())
        }
        TermPattern::Literal(_) => false,
        TermPattern::BlankNode(_) | TermPattern::Variable(_) => true,
    };
    let is_predicate = match &pattern.predicate {
        NamedNodePattern::NamedNode(node) => triple.predicate == *node,
        NamedNodePattern::Variable(_) => true,
    };
    let is_object = match &pattern.object {
        TermPattern::NamedNode(node) => triple.object.as_ref() == TermRef::NamedNode(node.as_ref()),
        TermPattern::Literal(literal) => triple.object.as_ref() == TermRef::Literal(literal.as_ref()),
        TermPattern::BlankNode(_) | TermPattern::Variable(_) => true,
    };
    is_subject && is_predicate && is_object
}

impl<'p> Parts<'p> {
    fn add_column(&mut self, name: String) {
        let next = self.columns.len();
        self.columns.entry(name).or_insert(next);
    }

    fn add_term(&mut self, pattern: &TermPattern) {
        match pattern {
            TermPattern::Variable(variable) => self.add_column(variable.as_str().to_owned()),
            TermPattern::BlankNode(node) => self.add_column(node.to_string()),
            TermPattern::NamedNode(_) | TermPattern::Literal(_) => {}
        }
    }

    fn add(&mut self, pattern: &'p GraphPattern) {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                for triple in patterns {
                    self.triples.push(triple);
                    self.add_term(&triple.subject);
                    self.add_term(&triple.object);
                    if let NamedNodePattern::Variable(variable) = &triple.predicate {
                        self.add_column(variable.as_str().to_owned());
                    }
                }
            }
            GraphPattern::Values { variables, .. } => {
                variables.iter().for_each(|variable| self.add_column(variable.as_str().to_owned()));
            }
            GraphPattern::Extend { inner, variable, expression } => {
                self.add_column(variable.as_str().to_owned());
                self.add_expression(expression);
                self.add(inner);
            }
            GraphPattern::Filter { expr, inner } => {
                self.add_expression(expr);
                self.add(inner);
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                expression.iter().for_each(|expression| self.add_expression(expression));
                self.add(left);
                self.add(right);
            }
            GraphPattern::Join { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right } => {
                self.add(left);
                self.add(right);
            }
            // The check of the update has refused the others.
            _ => {}
        }
    }

    /// Only EXISTS has patterns.
    fn add_expression(&mut self, expression: &'p Expression) {
        if let Expression::Exists(pattern) = expression {
            self.add(pattern);
        }
        parts_of(expression).into_iter().for_each(|part| self.add_expression(part));
    }
}
