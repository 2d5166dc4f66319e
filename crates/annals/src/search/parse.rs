//! Reads the text form of searches. `docs/search.md` has the grammar.

use std::cell::RefCell;

use super::completion::Expected;
use super::expression::{Condition, Expression, Field, Header, LinkDirection, Operator};
use super::find::{Deleted, Find, Order, OrderBy};
use super::lex::{PlacedToken, Token, error_at, tokens};
use super::refusals::DEPTH_MAX;
use crate::{Error, ErrorKind, Result};

/// Longest text form. Units: bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

/// Words that begin or join conditions: as names they need backticks.
pub(super) const KEYWORDS: [&str; 23] = [
    "where",
    "order",
    "by",
    "limit",
    "offset",
    "after",
    "and",
    "or",
    "not",
    "all",
    "any",
    "none",
    "is",
    "has",
    "classified",
    "to",
    "null",
    "nocase",
    "deleted",
    "proxies",
    "exists",
    "missing",
    "only",
];

/// True for words that begin or join conditions, in any case.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Words with which the clauses behind a condition begin.
const CLAUSES: [&str; 7] = ["order", "limit", "offset", "after", "status", "deleted", "proxies"];

/// Signs and words between a field and its value.
const OPERATORS: [&str; 13] =
    ["=", "!=", "<", "<=", ">", ">=", "^=", "$=", "~=", "=~", "in", "between", "has"];

/// Words with which searches of other languages begin.
const FOREIGN: [&str; 5] = ["select", "match", "optional", "return", "with"];

pub(super) fn find(text: &str) -> Result<Find> {
    native_find(text).map_err(|error| match Find::is_foreign(text) {
        true => Error::new(
            error.kind(),
            format!(
                "{}\n  this is not SQL or Cypher; a search is a type, then conditions: package where size >= 10; docs/search.md \
                 has the language",
                error.text()
            ),
        ),
        false => error,
    })
}

fn native_find(text: &str) -> Result<Find> {
    let mut find = Find::all();
    Parser::new(text)?.find(&mut find)?;
    find.check()?;
    Ok(find)
}

pub(super) fn expression(text: &str) -> Result<Expression> {
    let mut parser = Parser::new(text)?;
    let expression = parser.expression(0)?;
    match parser.peek() {
        Token::End => Ok(expression),
        _ => Err(parser.expected("and, or, or the end")),
    }
}

pub(super) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<PlacedToken>,
    next: usize,
    /// The field whose values come behind its operator.
    pub(super) field: Option<Field>,
    /// Everything that was asked for at the end of the text, so that a page can complete it.
    pub(super) expected: RefCell<Vec<Expected>>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Result<Parser<'t>> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("search: expected at most {TEXT_BYTES_MAX} bytes, found {}", text.len()),
            ));
        }
        Ok(Parser { text, tokens: tokens(text)?, next: 0, field: None, expected: RefCell::default() })
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.next].token
    }

    /// A whole search.
    pub(super) fn find(&mut self, find: &mut Find) -> Result<()> {
        self.note(Expected::Type);
        if self.starts_with_types() {
            self.types(find)?;
            if self.takes("where") {
                find.filter = self.expression(0)?;
            }
        } else if !self.is_clause() {
            self.takes("where");
            find.filter = self.expression(0)?;
        }
        while !matches!(self.peek(), Token::End) {
            self.clause(find)?;
        }
        CLAUSES.into_iter().for_each(|word| self.note(Expected::Word(word)));
        Ok(())
    }

    fn peek_second(&self) -> &Token {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)].token
    }

    pub(super) fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// The offset of the next token.
    pub(super) fn place(&self) -> usize {
        self.tokens[self.next].at
    }

    pub(super) fn error(&self, at: usize, what: &str) -> Error {
        error_at(self.text, at, what)
    }

    pub(super) fn expected(&self, what: &str) -> Error {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::Header(name) => format!("@{name}"),
            Token::Word(text) | Token::Name(text) => text.clone(),
            Token::Text(text) => format!("the text {text:?}"),
            Token::Pattern(text) => format!("/{text}/"),
        };
        self.error(self.place(), &format!("expected {what}, found {found}"))
    }

    fn is_word(&self, word: &'static str) -> bool {
        self.note(Expected::Word(word));
        matches!(self.peek(), Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    fn takes(&mut self, word: &'static str) -> bool {
        let is_here = self.is_word(word);
        if is_here {
            self.take();
        }
        is_here
    }

    pub(super) fn takes_sign(&mut self, sign: &'static str) -> bool {
        self.note(Expected::Word(sign));
        let is_here = matches!(self.peek(), Token::Sign(found) if *found == sign);
        if is_here {
            self.take();
        }
        is_here
    }

    pub(super) fn sign(&mut self, sign: &'static str) -> Result<()> {
        if self.takes_sign(sign) { Ok(()) } else { Err(self.expected(sign)) }
    }

    // A name of a type, a property or a classification.
    fn name(&mut self, what: &Expected) -> Result<String> {
        self.note(what.clone());
        let what = what.text();
        match self.peek() {
            Token::Word(word) if KEYWORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) => {
                let word = word.clone();
                Err(self.error(
                    self.place(),
                    &format!("expected {what}, found the keyword {word}; write `{word}` to mean a name"),
                ))
            }
            Token::Word(name) | Token::Name(name) => {
                let name = name.clone();
                self.take();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn is_clause(&self) -> bool {
        ["order", "limit", "offset", "after", "deleted", "proxies"].into_iter().any(|word| self.is_word(word))
            || self.is_status_clause()
            || matches!(self.peek(), Token::End)
    }

    // Types and properties may be called `status`: it is a clause only before the name of a status.
    fn is_status_clause(&self) -> bool {
        let token = |ahead: usize| &self.tokens[(self.next + ahead).min(self.tokens.len() - 1)].token;
        let is_one_of = |token: &Token, words: &[&str]| matches!(token, Token::Word(word) if words.iter().any(|known| word.eq_ignore_ascii_case(known)));
        let is_status = match token(1) {
            Token::Name(_) => true,
            second if is_one_of(second, &["deleted"]) => !is_one_of(token(2), &["with", "without", "only"]),
            second @ Token::Word(_) => {
                !is_one_of(second, &["in", "between"]) && !is_one_of(second, &KEYWORDS)
            }
            _ => false,
        };
        is_status && self.is_word("status")
    }

    // Names, one of which may be `deleted`; elsewhere that is a keyword.
    fn statuses(&mut self, find: &mut Find) -> Result<()> {
        loop {
            let name =
                if self.takes("deleted") { "deleted".to_owned() } else { self.name(&Expected::Status)? };
            find.statuses.push(name.into());
            if !self.takes_sign(",") {
                return Ok(());
            }
        }
    }

    // A type is the whole text, or comes before a comma, `only`, `where` or a clause.
    fn starts_with_types(&self) -> bool {
        let is_name = match self.peek() {
            Token::Sign("*") | Token::Name(_) => true,
            Token::Word(word) => !KEYWORDS.iter().any(|known| word.eq_ignore_ascii_case(known)),
            _ => false,
        };
        let follows = match self.peek_second() {
            Token::End | Token::Sign(",") => true,
            Token::Word(word) => {
                ["where", "order", "limit", "offset", "after", "deleted", "proxies", "only", "status"]
                    .iter()
                    .any(|known| word.eq_ignore_ascii_case(known))
            }
            _ => false,
        };
        is_name && follows && !self.is_status_clause()
    }

    fn types(&mut self, find: &mut Find) -> Result<()> {
        if !self.takes_sign("*") {
            find.types = self.names()?;
        }
        if self.takes("only") {
            find.subtypes = self.names()?;
        }
        Ok(())
    }

    fn names(&mut self) -> Result<Vec<std::sync::Arc<str>>> {
        let mut names = vec![self.name(&Expected::Type)?.into()];
        while self.takes_sign(",") {
            names.push(self.name(&Expected::Type)?.into());
        }
        Ok(names)
    }

    fn clause(&mut self, find: &mut Find) -> Result<()> {
        let at = self.place();
        if self.takes("order") {
            if !self.takes("by") {
                return Err(self.expected("by"));
            }
            if !find.order.is_empty() {
                return Err(self.error(at, "expected one order by, found a second"));
            }
            find.order.push(self.sort()?);
            while self.takes_sign(",") {
                find.order.push(self.sort()?);
            }
        } else if self.takes("limit") {
            find.limit = self.count()?;
        } else if self.takes("offset") {
            find.offset = self.count()?;
        } else if self.takes("after") {
            find.after = match self.take() {
                Token::Word(cursor) | Token::Text(cursor) => Some(cursor),
                _ => return Err(self.error(at, "expected the cursor of a page behind after")),
            };
        } else if self.takes("status") {
            self.statuses(find)?;
        } else if self.takes("deleted") {
            ["with", "without", "only"].into_iter().for_each(|word| self.note(Expected::Word(word)));
            find.deleted = match self.take() {
                Token::Word(word) if word == "with" => Deleted::With,
                Token::Word(word) if word == "only" => Deleted::Only,
                Token::Word(word) if word == "without" => Deleted::Without,
                _ => return Err(self.error(at, "expected with, only or without behind deleted")),
            };
        } else if self.takes("proxies") {
            ["with", "without"].into_iter().for_each(|word| self.note(Expected::Word(word)));
            find.with_proxies = match self.take() {
                Token::Word(word) if word == "with" => true,
                Token::Word(word) if word == "without" => false,
                _ => return Err(self.error(at, "expected with or without behind proxies")),
            };
        } else {
            return Err(self.expected(
                "where, and, or, order by, limit, offset, after, status, deleted, proxies or the end",
            ));
        }
        Ok(())
    }

    fn count(&mut self) -> Result<usize> {
        let number = match self.peek() {
            Token::Word(word) => word.parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| self.expected("a whole number"))?;
        self.take();
        Ok(number)
    }

    fn sort(&mut self) -> Result<OrderBy> {
        let field = self.field()?;
        let order = match () {
            () if self.takes("desc") => Order::Descending,
            () => {
                self.takes("asc");
                Order::Ascending
            }
        };
        Ok(OrderBy { field, order })
    }

    pub(super) fn field(&mut self) -> Result<Field> {
        let at = self.place();
        if let Token::Header(name) = self.peek() {
            let name = name.clone();
            self.take();
            if name == "text" {
                return Ok(Field::AnyText);
            }
            return Header::named(&name).map(Field::Header).ok_or_else(|| {
                let known: Vec<String> =
                    Header::ALL.iter().map(|known| format!("@{}", known.name())).collect();
                self.error(
                    at,
                    &format!("unknown header @{name}; expected one of {} or @text", known.join(", ")),
                )
            });
        }
        Ok(Field::Property(self.name(&Expected::Field)?.into()))
    }

    fn deeper(&self, depth: usize) -> Result<usize> {
        // One level of the tree takes several levels of the grammar.
        if depth > 2 * DEPTH_MAX {
            return Err(self.error(self.place(), &format!("expected at most {DEPTH_MAX} levels of brackets")));
        }
        Ok(depth + 1)
    }

    /// `conjunction { or conjunction }`
    pub(super) fn expression(&mut self, depth: usize) -> Result<Expression> {
        let depth = self.deeper(depth)?;
        let first = self.conjunction(depth)?;
        if !self.is_word("or") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.takes("or") {
            parts.push(self.conjunction(depth)?);
        }
        Ok(Expression::Any(parts))
    }

    /// `negation { and negation }`
    fn conjunction(&mut self, depth: usize) -> Result<Expression> {
        let first = self.negation(depth)?;
        if !self.is_word("and") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.takes("and") {
            parts.push(self.negation(depth)?);
        }
        Ok(Expression::All(parts))
    }

    /// `[ not ] primary`
    fn negation(&mut self, depth: usize) -> Result<Expression> {
        let depth = self.deeper(depth)?;
        if self.takes("not") {
            return Ok(Expression::None(vec![self.negation(depth)?]));
        }
        self.primary(depth)
    }

    fn primary(&mut self, depth: usize) -> Result<Expression> {
        if self.takes_sign("(") {
            let inner = self.expression(depth)?;
            self.sign(")")?;
            return Ok(inner);
        }
        let is_group = matches!(self.peek_second(), Token::Sign("("));
        for (word, make) in [
            ("all", Expression::All as fn(Vec<Expression>) -> Expression),
            ("any", Expression::Any),
            ("none", Expression::None),
        ] {
            if is_group && self.takes(word) {
                return Ok(make(self.group(depth)?));
            }
        }
        if self.takes("is") {
            return Ok(Expression::Type(self.name(&Expected::Type)?.into()));
        }
        if self.takes("classified") {
            let name = self.name(&Expected::Classification)?.into();
            return Ok(Expression::Classified { name, matching: self.bracketed(depth)? });
        }
        if self.is_word("has") {
            return self.linked(depth);
        }
        self.condition()
    }

    // `( [ expression { , expression } ] )`
    fn group(&mut self, depth: usize) -> Result<Vec<Expression>> {
        self.sign("(")?;
        let mut parts = Vec::new();
        if self.takes_sign(")") {
            return Ok(parts);
        }
        loop {
            parts.push(self.expression(depth)?);
            if self.takes_sign(")") {
                return Ok(parts);
            }
            if !self.takes_sign(",") {
                return Err(self.expected(", or )"));
            }
        }
    }

    fn bracketed(&mut self, depth: usize) -> Result<Option<Box<Expression>>> {
        if !self.takes_sign("(") {
            return Ok(None);
        }
        let inner = self.expression(depth)?;
        self.sign(")")?;
        Ok(Some(Box::new(inner)))
    }

    // `has out|in|any type|* [ ( … ) ] [ to ( … ) ]`
    fn linked(&mut self, depth: usize) -> Result<Expression> {
        self.take();
        let direction = match () {
            () if self.takes("out") => LinkDirection::Out,
            () if self.takes("in") => LinkDirection::In,
            () if self.takes("any") => LinkDirection::Any,
            () => return Err(self.expected("out, in or any")),
        };
        let type_name =
            if self.takes_sign("*") { None } else { Some(self.name(&Expected::RelationshipType)?.into()) };
        let matching = self.bracketed(depth)?;
        let mut other = None;
        if self.takes("to") {
            other = self.bracketed(depth)?;
            if other.is_none() {
                return Err(self.expected("( and what the other end must fulfil"));
            }
        }
        Ok(Expression::Linked { direction, type_name, matching, other })
    }

    fn condition(&mut self) -> Result<Expression> {
        let at = self.place();
        let field = self.field()?;
        self.field = Some(field.clone());
        let operator = self.operator()?;
        let values = match operator {
            Operator::Exists | Operator::Missing => Vec::new(),
            Operator::Between => {
                let low = self.value(false)?;
                if !self.takes("and") {
                    return Err(self.expected("and, then the greatest value"));
                }
                vec![low, self.value(false)?]
            }
            Operator::In => {
                self.sign("(")?;
                self.values(field == Field::AnyText)?
            }
            _ => vec![self.value(operator.is_textual() || field == Field::AnyText)?],
        };
        let ignores_case = self.takes("nocase");
        let condition = Condition { field, operator, values, ignores_case };
        if operator == Operator::Matches
            && let Err(error) = super::pattern::Pattern::check_syntax(&condition)
        {
            let kind = error.kind();
            return Err(Error::new(kind, self.error(at, "a bad regular expression").text().to_owned())
                .caused_by(error));
        }
        Ok(condition.into())
    }

    fn operator(&mut self) -> Result<Operator> {
        const EXPECTED: &str =
            "an operator: = != < <= > >= ^= $= ~= =~, in, between, has, is null or is not null";
        if self.takes("is") {
            let is_not = self.takes("not");
            if !self.takes("null") {
                return Err(self.expected("null or not null"));
            }
            return Ok(if is_not { Operator::Exists } else { Operator::Missing });
        }
        OPERATORS.into_iter().for_each(|word| self.note(Expected::Word(word)));
        let found = match self.peek() {
            Token::Sign(sign) => Operator::named(sign),
            Token::Word(word) => Operator::named(&word.to_ascii_lowercase()),
            _ => None,
        };
        let operator = found.ok_or_else(|| self.expected(EXPECTED))?;
        self.take();
        Ok(operator)
    }
}

impl std::str::FromStr for Expression {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Expression> {
        Expression::parse(text)
    }
}

impl std::str::FromStr for Find {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Find> {
        Find::parse(text)
    }
}

impl Expression {
    /// Reads the text form. Errors: `InvalidExpression`, which points at the character.
    pub fn parse(text: &str) -> Result<Expression> {
        expression(text)
    }
}

impl Find {
    /// Reads the text form, such as `package where size >= 5 order by size desc limit 10`.
    ///
    /// Errors: `InvalidExpression`, which points at the character.
    pub fn parse(text: &str) -> Result<Find> {
        find(text)
    }

    /// True if a text begins like a search in SQL or Cypher. It may be a search of a type with such a name all the same.
    pub fn is_foreign(text: &str) -> bool {
        let first = text.trim_start().split(|one: char| !one.is_alphanumeric()).next().unwrap_or_default();
        FOREIGN.iter().any(|word| first.eq_ignore_ascii_case(word))
    }
}
