//! The parts that a parsed update may contain, and the errors for the rest.

use spargebra::GraphUpdateOperation;
use spargebra::algebra::{Expression, Function, GraphPattern};
use spargebra::term::{GraphName, GraphNamePattern};

use super::{RdfError, RdfErrorKind};

/// Casts are functions of this namespace.
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

fn unsupported(found: &str, remedy: &str) -> RdfError {
    let expected = "expected INSERT DATA, DELETE DATA, DELETE WHERE, or DELETE and INSERT with WHERE";
    RdfError::new(RdfErrorKind::Unsupported, format!("{expected}, found {found}; {remedy}"))
}

fn unsupported_pattern(found: &str, remedy: &str) -> RdfError {
    let expected = "expected triples, FILTER, OPTIONAL, UNION, MINUS, VALUES and BIND in a WHERE";
    RdfError::new(RdfErrorKind::Unsupported, format!("{expected}, found {found}; {remedy}"))
}

/// The look through the text has named most of what is refused here, with its place.
///
/// Errors: `Unsupported`, with the name of the operation.
pub(super) fn check(operation: &mut GraphUpdateOperation) -> Result<(), RdfError> {
    let is_named = |name: &GraphNamePattern| *name != GraphNamePattern::DefaultGraph;
    let has_graph = match operation {
        GraphUpdateOperation::InsertData { data } => {
            data.iter().any(|quad| quad.graph_name != GraphName::DefaultGraph)
        }
        GraphUpdateOperation::DeleteData { data } => {
            data.iter().any(|quad| quad.graph_name != GraphName::DefaultGraph)
        }
        GraphUpdateOperation::DeleteInsert { delete, insert, using: None, pattern } => {
            check_pattern(pattern)?;
            delete.iter().any(|quad| is_named(&quad.graph_name))
                || insert.iter().any(|quad| is_named(&quad.graph_name))
        }
        _ => return Err(unsupported("another operation", "send the triples themselves")),
    };
    if has_graph { Err(unsupported("GRAPH", "leave it out: a resource is one graph")) } else { Ok(()) }
}

fn check_pattern(pattern: &mut GraphPattern) -> Result<(), RdfError> {
    let refuse = |found, remedy| Err(unsupported_pattern(found, remedy));
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Values { .. } => Ok(()),
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            check_pattern(left)?;
            check_pattern(right)
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            check_pattern(left)?;
            check_pattern(right)?;
            expression.as_mut().map_or(Ok(()), check_expression)
        }
        GraphPattern::Filter { expr, inner } => {
            check_expression(expr)?;
            check_pattern(inner)
        }
        GraphPattern::Extend { inner, expression, .. } => {
            check_expression(expression)?;
            check_pattern(inner)
        }
        GraphPattern::Path { .. } => refuse("a property path", "write its steps as triples with variables"),
        GraphPattern::Graph { .. } => refuse("GRAPH", "leave it out: a resource is one graph"),
        GraphPattern::Service { .. } => {
            refuse("SERVICE", "ask the other server yourself, and send the result in VALUES")
        }
        GraphPattern::OrderBy { .. }
        | GraphPattern::Project { .. }
        | GraphPattern::Distinct { .. }
        | GraphPattern::Reduced { .. }
        | GraphPattern::Slice { .. }
        | GraphPattern::Group { .. } => refuse("SELECT", "write its patterns into the WHERE itself"),
    }
}

fn check_expression(expression: &mut Expression) -> Result<(), RdfError> {
    match expression {
        Expression::Exists(pattern) => return check_pattern(pattern),
        Expression::FunctionCall(function, arguments) => check_function(function, arguments.len())?,
        _ => {}
    }
    parts_of(expression).into_iter().try_for_each(check_expression)
}

/// The expressions that an expression directly consists of; the pattern of EXISTS is none.
pub(super) fn parts_of(expression: &mut Expression) -> Vec<&mut Expression> {
    match expression {
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_)
        | Expression::Exists(_) => Vec::new(),
        Expression::Or(left, right)
        | Expression::And(left, right)
        | Expression::Equal(left, right)
        | Expression::SameTerm(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => vec![left, right],
        Expression::In(left, list) => std::iter::once(&mut **left).chain(list).collect(),
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => vec![inner],
        Expression::If(condition, yes, no) => vec![condition, yes, no],
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter_mut().collect(),
    }
}

fn check_function(function: &Function, arguments_count: usize) -> Result<(), RdfError> {
    match function {
        Function::Custom(name) if !name.as_str().starts_with(XSD) => {
            let found = format!("the function {name}");
            Err(unsupported_pattern(&found, "use a function of SPARQL 1.1"))
        }
        Function::BNode if arguments_count > 0 => {
            Err(unsupported_pattern("BNODE with a label", "write _:label in INSERT, or BNODE()"))
        }
        _ => Ok(()),
    }
}
