//! Evaluates an expression of a WHERE for a row.
//!
//! Each operation is evaluated by itself from the values of its arguments, so that the text that it makes is bounded
//! before it is made: nested calls of CONCAT or REPLACE would fill the memory otherwise.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term, Variable};
use spargebra::algebra::{Expression, Function, GraphPattern};
use sparopt::algebra::Expression as Operation;

use super::collector::check_term;
use super::matching::{Row, UNBOUND};
use super::solutions::Solver;
use super::{RdfError, RdfErrorKind};

/// The text that REGEX and REPLACE look through. Units: bytes.
const SEARCHED_BYTES_MAX: usize = 16 << 10;

/// An expression in the form in which it is evaluated.
pub(super) enum Node<'p> {
    Constant(Term),
    Variable(&'p Variable),
    Bound(&'p Variable),
    Or(Box<Node<'p>>, Box<Node<'p>>),
    And(Box<Node<'p>>, Box<Node<'p>>),
    Not(Box<Node<'p>>),
    In(Box<Node<'p>>, Vec<Node<'p>>, Box<Call<'p>>),
    Exists(&'p GraphPattern),
    If(Box<Node<'p>>, Box<Node<'p>>, Box<Node<'p>>),
    Coalesce(Vec<Node<'p>>),
    Call(Box<Call<'p>>),
}

/// An operation over the variables `a0`, `a1`, …, which stand for the values of `arguments`.
pub(super) struct Call<'p> {
    operation: Operation,
    function: Option<&'p Function>,
    names: Vec<Variable>,
    arguments: Vec<Node<'p>>,
}

impl<'p> Node<'p> {
    pub(super) fn of(expression: &'p Expression) -> Node<'p> {
        let node = |part: &'p Expression| Box::new(Node::of(part));
        let two = |operation: fn(Box<Operation>, Box<Operation>) -> Operation, left, right| {
            Node::Call(Box::new(Call::of_two(operation, vec![Node::of(left), Node::of(right)])))
        };
        match expression {
            Expression::NamedNode(node) => Node::Constant(node.clone().into()),
            Expression::Literal(literal) => Node::Constant(literal.clone().into()),
            Expression::Variable(variable) => Node::Variable(variable),
            Expression::Bound(variable) => Node::Bound(variable),
            Expression::Or(left, right) => Node::Or(node(left), node(right)),
            Expression::And(left, right) => Node::And(node(left), node(right)),
            Expression::Not(inner) => Node::Not(node(inner)),
            Expression::Equal(left, right) => two(Operation::Equal, left, right),
            Expression::SameTerm(left, right) => two(Operation::SameTerm, left, right),
            Expression::Greater(left, right) => two(Operation::Greater, left, right),
            Expression::GreaterOrEqual(left, right) => two(Operation::GreaterOrEqual, left, right),
            Expression::Less(left, right) => two(Operation::Less, left, right),
            Expression::LessOrEqual(left, right) => two(Operation::LessOrEqual, left, right),
            Expression::Add(left, right) => two(Operation::Add, left, right),
            Expression::Subtract(left, right) => two(Operation::Subtract, left, right),
            Expression::Multiply(left, right) => two(Operation::Multiply, left, right),
            Expression::Divide(left, right) => two(Operation::Divide, left, right),
            Expression::UnaryPlus(inner) => {
                Node::Call(Box::new(Call::of_one(Operation::UnaryPlus, Node::of(inner))))
            }
            Expression::UnaryMinus(inner) => {
                Node::Call(Box::new(Call::of_one(Operation::UnaryMinus, Node::of(inner))))
            }
            Expression::In(left, list) => {
                let equal = Call::of_two(Operation::Equal, Vec::new());
                Node::In(node(left), list.iter().map(Node::of).collect(), Box::new(equal))
            }
            Expression::Exists(pattern) => Node::Exists(pattern),
            Expression::If(condition, yes, no) => Node::If(node(condition), node(yes), node(no)),
            Expression::Coalesce(list) => Node::Coalesce(list.iter().map(Node::of).collect()),
            Expression::FunctionCall(function, arguments) => {
                Node::Call(Box::new(Call::of_function(function, arguments.iter().map(Node::of).collect())))
            }
        }
    }
}

/// The names of the arguments.
fn names(count: usize) -> Vec<Variable> {
    (0..count).map(|index| Variable::new_unchecked(format!("a{index}"))).collect()
}

impl<'p> Call<'p> {
    fn of_one(operation: fn(Box<Operation>) -> Operation, argument: Node<'p>) -> Call<'p> {
        let names = names(1);
        let operation = operation(Box::new(names[0].clone().into()));
        Call { operation, function: None, names, arguments: vec![argument] }
    }

    fn of_two(
        operation: fn(Box<Operation>, Box<Operation>) -> Operation,
        arguments: Vec<Node<'p>>,
    ) -> Call<'p> {
        let names = names(2);
        let operation = operation(Box::new(names[0].clone().into()), Box::new(names[1].clone().into()));
        Call { operation, function: None, names, arguments }
    }

    fn of_function(function: &'p Function, arguments: Vec<Node<'p>>) -> Call<'p> {
        let names = names(arguments.len());
        let operation =
            Operation::FunctionCall(function.clone(), names.iter().map(|name| name.clone().into()).collect());
        Call { operation, function: Some(function), names, arguments }
    }
}

impl<'p> Solver<'p, '_, '_, '_> {
    /// Whether the value of `node` is true; an error of SPARQL is not.
    pub(super) fn is_true(&mut self, node: &Node<'p>, row: &Row) -> Result<bool, RdfError> {
        Ok(self.truth(node, row)? == Some(true))
    }

    /// `None` for an error of SPARQL.
    fn truth(&mut self, node: &Node<'p>, row: &Row) -> Result<Option<bool>, RdfError> {
        Ok(self.value(node, row)?.and_then(|term| self.truth_of(term)))
    }

    fn truth_of(&self, term: Term) -> Option<bool> {
        if let Term::Literal(literal) = &term
            && literal.datatype() == xsd::BOOLEAN
        {
            return match literal.value() {
                "true" | "1" => Some(true),
                _ => Some(false),
            };
        }
        let name = Variable::new_unchecked("a0");
        let operation = Operation::Variable(name.clone());
        self.evaluator.evaluate_effective_boolean_value_expression(&operation, [(&name, term)])
    }

    /// The value of `node` for a row; `None` for an error of SPARQL. Errors: `TooLarge`, `TimedOut`.
    pub(super) fn value(&mut self, node: &Node<'p>, row: &Row) -> Result<Option<Term>, RdfError> {
        let bound = |solver: &Self, variable: &Variable| {
            solver.column(variable).map(|column| row[column]).filter(|term| *term != UNBOUND)
        };
        let truth = |found: Option<bool>| found.map(|found| Literal::from(found).into());
        Ok(match node {
            Node::Constant(term) => Some(term.clone()),
            Node::Variable(variable) => bound(self, variable).and_then(|term| self.terms.get(term)),
            Node::Bound(variable) => truth(Some(bound(self, variable).is_some())),
            Node::Or(left, right) => truth(match self.truth(left, row)? {
                Some(true) => Some(true),
                left => match (left, self.truth(right, row)?) {
                    (_, Some(true)) => Some(true),
                    (Some(false), right) => right,
                    _ => None,
                },
            }),
            Node::And(left, right) => truth(match self.truth(left, row)? {
                Some(false) => Some(false),
                left => match (left, self.truth(right, row)?) {
                    (_, Some(false)) => Some(false),
                    (Some(true), right) => right,
                    _ => None,
                },
            }),
            Node::Not(inner) => truth(self.truth(inner, row)?.map(|found| !found)),
            Node::In(left, list, equal) => truth(self.is_in(left, list, equal, row)?),
            Node::Exists(pattern) => truth(Some(!self.solve(pattern, row)?.is_empty())),
            Node::If(condition, yes, no) => match self.truth(condition, row)? {
                Some(true) => self.value(yes, row)?,
                Some(false) => self.value(no, row)?,
                None => None,
            },
            Node::Coalesce(list) => {
                for part in list {
                    if let Some(term) = self.value(part, row)? {
                        return Ok(Some(term));
                    }
                }
                None
            }
            Node::Call(call) => {
                let mut arguments = Vec::with_capacity(call.arguments.len());
                for argument in &call.arguments {
                    let Some(term) = self.value(argument, row)? else { return Ok(None) };
                    arguments.push(term);
                }
                self.call(call, arguments)?
            }
        })
    }

    /// True if one is equal; an error if none is and one comparison is an error.
    fn is_in(
        &mut self,
        left: &Node<'p>,
        list: &[Node<'p>],
        equal: &Call<'p>,
        row: &Row,
    ) -> Result<Option<bool>, RdfError> {
        let Some(left) = self.value(left, row)? else { return Ok(None) };
        let mut found = Some(false);
        for part in list {
            let same = match self.value(part, row)? {
                Some(right) => {
                    self.call(equal, vec![left.clone(), right])?.and_then(|term| self.truth_of(term))
                }
                None => None,
            };
            match same {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => found = None,
            }
        }
        Ok(found)
    }

    fn call(&mut self, call: &Call<'p>, arguments: Vec<Term>) -> Result<Option<Term>, RdfError> {
        self.budget.look_at_clock()?;
        match call.function {
            Some(Function::Iri) => return Ok(self.resolve(&arguments[0])),
            Some(Function::Now) if self.now.is_some() => return Ok(self.now.clone()),
            Some(function) => self.check_size(function, &arguments)?,
            None => {}
        }
        let value = self.evaluator.evaluate_expression(&call.operation, call.names.iter().zip(arguments));
        if let Some(term) = &value {
            let bytes = check_term(term, self.budget.limits)?;
            self.budget.make(bytes)?;
        }
        if matches!(call.function, Some(Function::Now)) {
            self.now = value.clone();
        }
        Ok(value)
    }

    /// Refuses what would make, or look through, too much text.
    fn check_size(&self, function: &Function, arguments: &[Term]) -> Result<(), RdfError> {
        let bytes = |index: usize| match arguments.get(index) {
            Some(Term::Literal(literal)) => literal.value().len(),
            _ => 0,
        };
        let (name, made) = match function {
            Function::Regex => ("REGEX", 0),
            // A match may be repeated for each two bytes of the replacement.
            Function::Replace => ("REPLACE", (bytes(0) + 1).saturating_mul(bytes(2) + 1)),
            Function::Concat => ("CONCAT", (0..arguments.len()).map(bytes).sum()),
            _ => return Ok(()),
        };
        let max = self.budget.limits.literal_bytes_max;
        if made > max.saturating_mul(4) {
            let text = format!(
                "expected {name} to make at most {max} bytes, it may make {made}; make the text yourself"
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        if !matches!(function, Function::Concat) && bytes(0) > SEARCHED_BYTES_MAX {
            let text = format!(
                "expected a text of at most {SEARCHED_BYTES_MAX} bytes for {name}, found {}; use CONTAINS or SUBSTR first",
                bytes(0)
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        Ok(())
    }

    /// IRI(text), relative to the base of the update.
    fn resolve(&self, argument: &Term) -> Option<Term> {
        match argument {
            Term::NamedNode(_) => Some(argument.clone()),
            Term::Literal(literal) if literal.datatype() == xsd::STRING => {
                let base = self.update.base_iri.as_ref()?;
                let resolved = base.resolve(literal.value()).ok()?.into_inner();
                NamedNode::new(resolved).ok().map(Term::from)
            }
            _ => None,
        }
    }
}
