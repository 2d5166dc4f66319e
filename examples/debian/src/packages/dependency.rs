//! Parses the relationship fields of Debian packages: `a (>= 1.2) | b:any [amd64] <!nocheck>, c`.

use std::fmt;

use annals_exchange::import::quote;

/// How a version constrains another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `<<`
    Earlier,
    /// `<=`
    EarlierOrEqual,
    /// `=`
    Equal,
    /// `>=`
    LaterOrEqual,
    /// `>>`
    Later,
}

impl Operator {
    /// The sign as Debian writes it.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Earlier => "<<",
            Operator::EarlierOrEqual => "<=",
            Operator::Equal => "=",
            Operator::LaterOrEqual => ">=",
            Operator::Later => ">>",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}

/// The versions a dependency accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// How the other version must compare with `version`.
    pub operator: Operator,
    /// The version compared with.
    pub version: String,
}

/// One package named in a relationship field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name of a real or virtual package.
    pub name: String,
    /// The qualifier behind the colon: `any`, `native` or an architecture.
    pub architecture: Option<String>,
    /// `None`: any version.
    pub constraint: Option<Constraint>,
    /// The architectures it is restricted to, `!` included; empty: all. Binary indexes have none.
    pub architectures: Vec<String>,
    /// The build profiles it is restricted to: one of the lists must hold whole, `!` included. Binary indexes have none.
    pub profiles: Vec<Vec<String>>,
}

/// Parses a relationship field.
/// Shape: groups in order, all of which must hold; in each the alternatives in order, never empty.
/// Empty groups (`a, , b,`) are left out, an empty field has none. As in dpkg, `<` and `>` mean `<=` and `>=`, and a
/// version without operator means `=`.
/// Errors: the reason, with what was expected and found.
/// Source: <https://www.debian.org/doc/debian-policy/ch-relationships.html>, and for names, `lib/dpkg/parsehelp.c`.
pub fn parse(field: &str) -> Result<Vec<Vec<Dependency>>, String> {
    let mut text = Text { rest: field };
    let mut groups = Vec::new();
    loop {
        while text.take(",") {}
        if text.is_at_end() {
            return Ok(groups);
        }
        let mut alternatives = vec![text.dependency()?];
        while text.take("|") {
            alternatives.push(text.dependency()?);
        }
        groups.push(alternatives);
        if !text.is_at_end() && !text.take(",") {
            return Err(text.expected("`,` or `|`"));
        }
    }
}

/// Parses a package name at the start of `text`, and returns what follows it.
/// Errors: `None` if there is no name.
pub fn split_name(text: &str) -> Option<(&str, &str)> {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte);
    let end = text.bytes().position(|byte| !is_name_byte(byte)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    name.starts_with(|first: char| first.is_ascii_alphanumeric()).then_some((name, rest))
}

/// True if `version` has only the characters that versions have.
pub fn is_version(version: &str) -> bool {
    let is_version_byte = |byte: u8| byte.is_ascii_alphanumeric() || b".+-~:".contains(&byte);
    !version.is_empty() && version.bytes().all(is_version_byte)
}

/// The part of a field that is not parsed yet.
struct Text<'a> {
    rest: &'a str,
}

impl<'a> Text<'a> {
    fn dependency(&mut self) -> Result<Dependency, String> {
        self.skip_blanks();
        let Some((name, rest)) = split_name(self.rest) else {
            return Err(self.expected("a package name"));
        };
        self.rest = rest;
        let architecture = match rest.strip_prefix(':') {
            Some(rest) => {
                self.rest = rest;
                Some(self.word("an architecture behind the colon", |byte| {
                    byte.is_ascii_alphanumeric() || byte == b'-'
                })?)
            }
            None => None,
        };
        let constraint = if self.take("(") { Some(self.constraint()?) } else { None };
        let architectures = if self.take("[") { self.list("]")? } else { Vec::new() };
        let mut profiles = Vec::new();
        while self.take("<") {
            profiles.push(self.list(">")?);
        }
        let architecture = architecture.map(str::to_string);
        Ok(Dependency { name: name.to_string(), architecture, constraint, architectures, profiles })
    }

    /// Reads a constraint behind its opening parenthesis, and the closing one.
    fn constraint(&mut self) -> Result<Constraint, String> {
        const SIGNS: [(&str, Operator); 7] = [
            ("<<", Operator::Earlier),
            ("<=", Operator::EarlierOrEqual),
            (">=", Operator::LaterOrEqual),
            (">>", Operator::Later),
            ("=", Operator::Equal),
            ("<", Operator::EarlierOrEqual),
            (">", Operator::LaterOrEqual),
        ];
        // Order: the signs of two characters come before those they start with.
        let sign = SIGNS.into_iter().find(|(sign, _)| self.take(sign));
        let operator = sign.map_or(Operator::Equal, |(_, operator)| operator);
        self.skip_blanks();
        let end = self.rest.find(|c: char| c == ')' || c.is_ascii_whitespace()).unwrap_or(self.rest.len());
        let (version, rest) = self.rest.split_at(end);
        if !is_version(version) {
            return Err(self.expected("a version"));
        }
        self.rest = rest;
        if !self.take(")") {
            return Err(self.expected("`)` behind the version"));
        }
        Ok(Constraint { operator, version: version.to_string() })
    }

    /// Words up to the closing sign `close`, at least one.
    fn list(&mut self, close: &str) -> Result<Vec<String>, String> {
        let is_word_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-!.".contains(&byte);
        let mut words = Vec::new();
        while words.is_empty() || !self.take(close) {
            self.skip_blanks();
            words.push(self.word(&format!("a word or `{close}`"), is_word_byte)?.to_string());
        }
        Ok(words)
    }

    fn word(&mut self, what: &str, is_word_byte: impl Fn(u8) -> bool) -> Result<&'a str, String> {
        let end = self.rest.bytes().position(|byte| !is_word_byte(byte)).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.expected(what));
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    /// Takes `sign`, if it comes next behind blanks.
    fn take(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest.is_empty()
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn expected(&self, what: &str) -> String {
        let found = if self.rest.is_empty() { "the end".to_string() } else { quote(self.rest) };
        format!("expected {what}, found {found}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str) -> Dependency {
        Dependency {
            name: name.to_string(),
            architecture: None,
            constraint: None,
            architectures: vec![],
            profiles: vec![],
        }
    }

    fn versioned(name: &str, operator: Operator, version: &str) -> Dependency {
        Dependency { constraint: Some(Constraint { operator, version: version.to_string() }), ..plain(name) }
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn a_field_is_groups_of_alternatives() {
        let groups = parse("a (>= 1.2) | b:any [amd64 !i386] <!nocheck> <stage1 cross>, c").unwrap();
        let b = Dependency {
            architecture: Some("any".to_string()),
            architectures: strings(&["amd64", "!i386"]),
            profiles: vec![strings(&["!nocheck"]), strings(&["stage1", "cross"])],
            ..plain("b")
        };
        assert_eq!(groups, [vec![versioned("a", Operator::LaterOrEqual, "1.2"), b], vec![plain("c")]]);
    }

    #[test]
    fn all_operators_are_told_apart() {
        for operator in [
            Operator::Earlier,
            Operator::EarlierOrEqual,
            Operator::Equal,
            Operator::LaterOrEqual,
            Operator::Later,
        ] {
            let groups = parse(&format!("a ({operator} 1)")).unwrap();
            assert_eq!(groups, [vec![versioned("a", operator, "1")]]);
        }
    }

    #[test]
    fn old_operators_mean_what_dpkg_takes_them_for() {
        assert_eq!(parse("a (< 1)").unwrap(), [vec![versioned("a", Operator::EarlierOrEqual, "1")]]);
        assert_eq!(parse("a (> 1)").unwrap(), [vec![versioned("a", Operator::LaterOrEqual, "1")]]);
        assert_eq!(parse("a (1)").unwrap(), [vec![versioned("a", Operator::Equal, "1")]]);
    }

    #[test]
    fn blanks_and_line_ends_do_not_matter() {
        let tight = parse("a(>=2:1.0~rc1+dfsg-3)|b:amd64(<<3)[i386]<x>,c").unwrap();
        let loose =
            parse(" a\n ( >=\t2:1.0~rc1+dfsg-3 )\n | b:amd64 ( << 3 ) [ i386 ] < x > ,\r\n c ").unwrap();
        assert_eq!(tight, loose);
    }

    #[test]
    fn empty_groups_are_left_out() {
        assert_eq!(parse("").unwrap(), Vec::<Vec<Dependency>>::new());
        assert_eq!(parse(" ,, a, ,b,").unwrap(), [vec![plain("a")], vec![plain("b")]]);
    }

    #[test]
    fn a_name_may_have_plus_dot_and_upper_case() {
        assert_eq!(parse("libstdc++6.0, R_x").unwrap(), [vec![plain("libstdc++6.0")], vec![plain("R_x")]]);
    }

    #[test]
    fn a_malformed_field_says_what_was_expected_and_found() {
        for (field, reason) in [
            ("a b", "expected `,` or `|`, found `b`"),
            ("a |", "expected a package name, found the end"),
            ("a | | b", "expected a package name, found `| b`"),
            ("| a", "expected a package name, found `| a`"),
            ("(>= 1)", "expected a package name, found `(>= 1)`"),
            ("-a", "expected a package name, found `-a`"),
            ("a:", "expected an architecture behind the colon, found the end"),
            ("a: any", "expected an architecture behind the colon, found ` any`"),
            ("a (", "expected a version, found the end"),
            ("a ()", "expected a version, found `)`"),
            ("a (>=)", "expected a version, found `)`"),
            ("a (>= 1", "expected `)` behind the version, found the end"),
            ("a (>= 1 2)", "expected `)` behind the version, found `2)`"),
            ("a (=> 1)", "expected a version, found `> 1)`"),
            ("a (>= ${binary:Version})", "expected a version, found `${binary:Version})`"),
            ("a [", "expected a word or `]`, found the end"),
            ("a []", "expected a word or `]`, found `]`"),
            ("a [amd64", "expected a word or `]`, found the end"),
            ("a <!nocheck", "expected a word or `>`, found the end"),
            ("ä", "expected a package name, found `ä`"),
            ("a\u{a0}", "expected `,` or `|`, found `\\u{a0}`"),
        ] {
            assert_eq!(parse(field), Err(reason.to_string()), "{field}");
        }
    }
}
