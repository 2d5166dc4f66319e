//! Rewrites a WHERE so that its evaluation counts: each join tells the budget of each of its rows, and each function asks
//! it first.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oxrdf::{Literal, NamedNode, Term, Variable};
use spareval::QueryEvaluator;
use spargebra::algebra::{Expression, Function, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::budget::Budget;
use super::supported::parts_of;
use super::{RdfError, RdfErrorKind};

const VARIABLES_MAX: usize = 64;
/// Joins and triples of a WHERE: each may be a level of a tree that is walked recursively.
const PARTS_MAX: usize = 256;
/// The functions that count. No update can name them: the check of updates knows only those of SPARQL.
const ROW: &str = "urn:annals:row";
const SOLUTION: &str = "urn:annals:solution";

/// The parts that the evaluation of a WHERE needs beside the rewritten pattern.
#[derive(Default)]
pub(super) struct Counted {
    /// The constant terms of each triple pattern.
    pub(super) constants: Vec<[Option<Term>; 3]>,
    functions: Vec<Function>,
    /// A blank node is a variable, too.
    variables: HashSet<String>,
    parts_count: usize,
}

impl Counted {
    /// Errors: `TooLarge` for a pattern with too many variables or parts.
    pub(super) fn of(pattern: &mut GraphPattern) -> Result<Counted, RdfError> {
        let mut counted = Counted::default();
        counted.rewrite(pattern)?;
        counted.count(pattern, SOLUTION);
        if counted.variables.len() > VARIABLES_MAX {
            return Err(too_many(VARIABLES_MAX, "variables"));
        }
        Ok(counted)
    }

    /// An evaluator that knows the functions of the rewritten pattern.
    pub(super) fn evaluator(&self, budget: &Arc<Budget>) -> QueryEvaluator {
        let width = self.variables.len() + self.parts_count;
        let (of_rows, of_solutions) = (Arc::clone(budget), Arc::clone(budget));
        let solutions = AtomicUsize::new(0);
        // A refusal ends the evaluation when the value becomes a term.
        let mut evaluator = QueryEvaluator::new()
            .with_custom_function(NamedNode::new_unchecked(ROW), move |_| {
                let _ = of_rows.row(width);
                Some(Literal::from(true).into())
            })
            .with_custom_function(NamedNode::new_unchecked(SOLUTION), move |_| {
                let _ = of_solutions.solution(solutions.fetch_add(1, Ordering::Relaxed) + 1);
                Some(Literal::from(true).into())
            });
        for (index, function) in self.functions.iter().enumerate() {
            let (budget, function) = (Arc::clone(budget), function.clone());
            evaluator = evaluator
                .with_custom_function(name_of(index), move |arguments| budget.call(&function, arguments));
        }
        evaluator
    }

    fn rewrite(&mut self, pattern: &mut GraphPattern) -> Result<(), RdfError> {
        match pattern {
            GraphPattern::Bgp { patterns } => *pattern = self.joined(mem::take(patterns))?,
            GraphPattern::Values { variables, .. } => self.add(variables.iter()),
            GraphPattern::Extend { inner, variable, expression } => {
                self.add([&*variable]);
                self.rewrite_expression(expression)?;
                self.rewrite(inner)?;
                self.hoist(expression, inner);
            }
            GraphPattern::Filter { expr, inner } => {
                self.rewrite_expression(expr)?;
                self.rewrite(inner)?;
            }
            // In EXISTS the evaluator gives both sides the variables of the row outside.
            GraphPattern::Minus { left, right } if !share_variables(left, right) => {
                *pattern = mem::take(left);
                self.rewrite(pattern)?;
            }
            GraphPattern::Union { left, right } | GraphPattern::Minus { left, right } => {
                self.rewrite(left)?;
                self.rewrite(right)?;
            }
            GraphPattern::Join { left, right } => {
                self.rewrite(left)?;
                self.rewrite(right)?;
                self.count(pattern, ROW);
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                expression.iter_mut().try_for_each(|expression| self.rewrite_expression(expression))?;
                self.rewrite(left)?;
                self.rewrite(right)?;
                self.count(pattern, ROW);
            }
            // The check of the update has refused the others.
            _ => {}
        }
        if self.parts_count > PARTS_MAX { Err(too_many(PARTS_MAX, "triples and groups")) } else { Ok(()) }
    }

    fn rewrite_expression(&mut self, expression: &mut Expression) -> Result<(), RdfError> {
        if let Expression::Exists(pattern) = expression {
            return self.rewrite(pattern);
        }
        for part in parts_of(expression) {
            self.rewrite_expression(part)?;
        }
        match expression {
            // They know the base and the time of the update, and make little.
            Expression::FunctionCall(Function::Iri | Function::Now, _) => {}
            Expression::FunctionCall(function, _) => {
                let counting = Function::Custom(name_of(self.functions.len()));
                self.functions.push(mem::replace(function, counting));
            }
            _ => {}
        }
        Ok(())
    }

    fn add<'v>(&mut self, variables: impl IntoIterator<Item = &'v Variable>) {
        self.variables.extend(variables.into_iter().map(|variable| variable.as_str().to_owned()));
    }

    /// Gives each computed part of COALESCE and IF a variable of its own. The evaluator then passes terms on as they are, and
    /// otherwise as values: `1.50` would become `1.5`.
    fn hoist(&mut self, expression: &mut Expression, inner: &mut GraphPattern) {
        let parts: Vec<&mut Expression> = match expression {
            Expression::Coalesce(list) => list.iter_mut().collect(),
            Expression::If(_, yes, no) => vec![yes, no],
            _ => return,
        };
        for part in parts {
            match part {
                Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) => {}
                Expression::Coalesce(_) | Expression::If(..) => self.hoist(part, inner),
                computed => {
                    let variable = self.new_variable();
                    let expression = mem::replace(computed, variable.clone().into());
                    *inner = GraphPattern::Extend { inner: Box::new(mem::take(inner)), variable, expression };
                }
            }
        }
    }

    /// A variable that no update can name.
    fn new_variable(&mut self) -> Variable {
        self.parts_count += 1;
        Variable::new_unchecked(format!("part {}", self.parts_count))
    }

    /// Calls `function` for each row of `pattern`: the value of a variable of its own, in no row of another pattern.
    fn count(&mut self, pattern: &mut GraphPattern, function: &str) {
        let variable = self.new_variable();
        let function = Function::Custom(NamedNode::new_unchecked(function));
        *pattern = GraphPattern::Extend {
            inner: Box::new(mem::take(pattern)),
            variable,
            expression: Expression::FunctionCall(function, Vec::new()),
        };
    }

    /// The patterns as joins of one each. Order: the one with the most known places first, so that few rows are made in
    /// between.
    fn joined(&mut self, mut left: Vec<TriplePattern>) -> Result<GraphPattern, RdfError> {
        if self.parts_count + left.len() > PARTS_MAX {
            return Err(too_many(PARTS_MAX, "triples and groups"));
        }
        let mut bound: HashSet<String> = HashSet::new();
        let mut joined: Option<GraphPattern> = None;
        while !left.is_empty() {
            let is_known = |place: &&Result<Term, String>| match place {
                Ok(_) => true,
                Err(name) => bound.contains(name),
            };
            let known = |pattern: &TriplePattern| places(pattern).iter().filter(is_known).count();
            let best = (0..left.len()).rev().max_by_key(|at| known(&left[*at])).expect("one is left");
            let pattern = left.remove(best);
            let places = places(&pattern);
            bound.extend(places.iter().filter_map(|place| place.clone().err()));
            self.constants.push(places.map(Result::ok));
            let one = GraphPattern::Bgp { patterns: vec![pattern] };
            joined = Some(match joined {
                None => one,
                Some(before) => {
                    let mut join = GraphPattern::Join { left: Box::new(before), right: Box::new(one) };
                    self.count(&mut join, ROW);
                    join
                }
            });
        }
        self.variables.extend(bound);
        Ok(joined.unwrap_or_default())
    }
}

fn share_variables(left: &GraphPattern, right: &GraphPattern) -> bool {
    let (mut names, mut is_shared) = (HashSet::new(), false);
    left.on_in_scope_variable(|variable| names.extend([variable]));
    right.on_in_scope_variable(|variable| is_shared |= names.contains(variable));
    is_shared
}

/// The constant term of each place, or the name of its variable.
fn places(pattern: &TriplePattern) -> [Result<Term, String>; 3] {
    let place = |term: &TermPattern| match term {
        TermPattern::NamedNode(node) => Ok(node.clone().into()),
        TermPattern::Literal(literal) => Ok(literal.clone().into()),
        TermPattern::BlankNode(node) => Err(node.to_string()),
        TermPattern::Variable(variable) => Err(variable.as_str().to_owned()),
    };
    let predicate = match &pattern.predicate {
        NamedNodePattern::NamedNode(node) => Ok(node.clone().into()),
        NamedNodePattern::Variable(variable) => Err(variable.as_str().to_owned()),
    };
    [place(&pattern.subject), predicate, place(&pattern.object)]
}

fn name_of(function: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("urn:annals:function:{function}"))
}

fn too_many(max: usize, parts: &str) -> RdfError {
    let text = format!("expected at most {max} {parts} in a WHERE, found more; send several updates");
    RdfError::new(RdfErrorKind::TooLarge, text)
}
