//! Reads Debian package indexes (`Packages`) as plain structs, one package at a time.

mod version;
mod dependency;
mod stanza;

use std::io::BufRead;

use annals::Result;

pub use dependency::{Constraint, Dependency, Operator};
use stanza::{Field, Stanza, StanzaReader};
pub use version::compare_versions;

use annals_exchange::import::quote;
use annals_exchange::import::{Checked, Refused};

/// Reads the packages of one index in their order.
/// Shape: one item per stanza; a refused stanza does not end the reading, an outer error does.
/// Memory does not grow with the index: one stanza is held at a time, and it is bounded.
///
/// ```ignore
/// for package in PackageReader::new(Source::open(path)?) {
///     match package? {
///         Ok(package) => println!("{} {}", package.name, package.version),
///         Err(refused) => eprintln!("{refused}"),
///     }
/// }
/// ```
pub struct PackageReader<R> {
    stanzas: StanzaReader<R>,
    is_broken: bool,
}

/// One binary package of one release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The line its stanza starts on.
    pub line: u64,
    /// `Package`. Not unique: an index can have two versions of one package.
    pub name: String,
    /// `Version`.
    pub version: String,
    /// `Architecture`: `amd64`, `all`, …
    pub architecture: String,
    /// `Multi-Arch`: `same`, `foreign`, `allowed`, `no`.
    pub multi_arch: Option<String>,
    /// `Source`; if absent, the package's own name and version.
    pub source: SourcePackage,
    /// `Section`.
    pub section: Option<String>,
    /// `Priority`.
    pub priority: Option<String>,
    /// `Essential: yes`.
    pub is_essential: bool,
    /// `Maintainer`: one, but in a few packages several.
    pub maintainers: Vec<Maintainer>,
    /// `Tag`.
    pub tags: Vec<Tag>,
    /// `Homepage`, as written.
    pub homepage: Option<String>,
    /// The first line of `Description`.
    pub summary: Option<String>,
    /// `Installed-Size`.
    pub installed_size_kib: Option<u64>,
    /// `Size` of the package file.
    pub size_bytes: Option<u64>,
    /// All relations to other packages: kinds in the order of [`RelationKind::ALL`], each in the order of its field.
    pub relations: Vec<Relation>,
    /// `Provides`.
    pub provides: Vec<Provided>,
}

/// The source package that a binary package is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePackage {
    /// Its name.
    pub name: String,
    /// Its version, which can differ from that of the binary package.
    pub version: String,
}

/// The maintainer of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintainer {
    /// The name of a person or team, without quotes around it.
    pub name: String,
    /// The address, without angle brackets.
    pub email: Option<String>,
}

/// A debtag, `facet::tag`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The facet, such as `role`.
    pub facet: String,
    /// The tag in this facet, such as `program`.
    pub tag: String,
}

/// The field of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelationKind {
    /// `Depends`
    Depends,
    /// `Pre-Depends`
    PreDepends,
    /// `Recommends`
    Recommends,
    /// `Suggests`
    Suggests,
    /// `Breaks`
    Breaks,
    /// `Conflicts`
    Conflicts,
    /// `Replaces`
    Replaces,
    /// `Enhances`
    Enhances,
}

impl RelationKind {
    /// All kinds.
    pub const ALL: [RelationKind; 8] = [
        RelationKind::Depends,
        RelationKind::PreDepends,
        RelationKind::Recommends,
        RelationKind::Suggests,
        RelationKind::Breaks,
        RelationKind::Conflicts,
        RelationKind::Replaces,
        RelationKind::Enhances,
    ];

    /// The name of the field.
    pub fn field_name(self) -> &'static str {
        match self {
            RelationKind::Depends => "Depends",
            RelationKind::PreDepends => "Pre-Depends",
            RelationKind::Recommends => "Recommends",
            RelationKind::Suggests => "Suggests",
            RelationKind::Breaks => "Breaks",
            RelationKind::Conflicts => "Conflicts",
            RelationKind::Replaces => "Replaces",
            RelationKind::Enhances => "Enhances",
        }
    }
}

/// One relation to another package. The relations of one kind and group are alternatives of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The field that states it.
    pub kind: RelationKind,
    /// Index of the group in the field.
    pub group: u32,
    /// Index of the alternative in the group.
    pub alternative: u32,
    /// The other package, and which versions of it.
    pub to: Dependency,
}

/// A virtual package that a package provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provided {
    /// Its name.
    pub name: String,
    /// The qualifier behind the colon.
    pub architecture: Option<String>,
    /// The version it is provided as.
    pub version: Option<String>,
}

impl<R: BufRead> PackageReader<R> {
    /// Reads `input` from its start; give it a [`annals_exchange::import::Source`] for files that may be gzip.
    pub fn new(input: R) -> PackageReader<R> {
        PackageReader { stanzas: StanzaReader::new(input), is_broken: false }
    }

    /// True if the stanza read last has no empty line behind it, so that it may be cut.
    pub fn is_cut(&self) -> bool {
        self.stanzas.is_cut()
    }

    /// The input, wherever it stands.
    pub fn into_input(self) -> R {
        self.stanzas.into_input()
    }
}

impl<R: BufRead> Iterator for PackageReader<R> {
    type Item = Result<Checked<Package>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_broken {
            return None;
        }
        match self.stanzas.read() {
            Ok(None) => None,
            Ok(Some(stanza)) => Some(Ok(stanza.and_then(|stanza| parse_package(&stanza)))),
            Err(error) => {
                self.is_broken = true;
                Some(Err(error))
            }
        }
    }
}

fn parse_package(stanza: &Stanza<'_>) -> Checked<Package> {
    let name = required(stanza, "Package")?;
    if dependency::split_name(name.value).is_none_or(|(_, rest)| !rest.is_empty()) {
        return Err(bad(name, "a package name"));
    }
    let version = required(stanza, "Version")?;
    if !dependency::is_version(version.value) {
        return Err(bad(version, "a version"));
    }
    let text = |field: &str| stanza.get(field).map(|field| first_line(field.value).to_string());
    Ok(Package {
        line: stanza.line,
        name: name.value.to_string(),
        version: version.value.to_string(),
        architecture: required(stanza, "Architecture")?.value.to_string(),
        multi_arch: text("Multi-Arch"),
        source: parse_source(stanza, name.value, version.value)?,
        section: text("Section"),
        priority: text("Priority"),
        is_essential: parse_yes_no(stanza, "Essential")?,
        maintainers: stanza.get("Maintainer").map(|field| parse_maintainers(field.value)).unwrap_or_default(),
        tags: parse_tags(stanza)?,
        homepage: text("Homepage"),
        summary: text("Description"),
        installed_size_kib: parse_number(stanza, "Installed-Size")?,
        size_bytes: parse_number(stanza, "Size")?,
        relations: parse_relations(stanza)?,
        provides: parse_provides(stanza)?,
    })
}

fn required<'a>(stanza: &Stanza<'a>, name: &str) -> Checked<Field<'a>> {
    stanza
        .get(name)
        .ok_or_else(|| Refused::new(stanza.line, format!("expected the field {name}, found none")))
}

fn bad(field: Field<'_>, expected: &str) -> Refused {
    Refused::new(field.line, format!("{}: expected {expected}, found {}", field.name, quote(field.value)))
}

fn first_line(value: &str) -> &str {
    value.lines().next().unwrap_or_default().trim_ascii_end()
}

fn parse_yes_no(stanza: &Stanza<'_>, name: &str) -> Checked<bool> {
    match stanza.get(name) {
        None => Ok(false),
        Some(field) if field.value.eq_ignore_ascii_case("yes") => Ok(true),
        Some(field) if field.value.eq_ignore_ascii_case("no") => Ok(false),
        Some(field) => Err(bad(field, "`yes` or `no`")),
    }
}

fn parse_number(stanza: &Stanza<'_>, name: &str) -> Checked<Option<u64>> {
    let Some(field) = stanza.get(name) else { return Ok(None) };
    field.value.parse().map(Some).map_err(|_| bad(field, "a whole number"))
}

/// Parses `name` or `name (version)`.
fn parse_source(stanza: &Stanza<'_>, name: &str, version: &str) -> Checked<SourcePackage> {
    let Some(field) = stanza.get("Source") else {
        return Ok(SourcePackage { name: name.to_string(), version: version.to_string() });
    };
    let refuse = || bad(field, "`name` or `name (version)`");
    let (name, rest) = dependency::split_name(field.value).ok_or_else(refuse)?;
    let version = match rest.trim_ascii_start() {
        "" => version,
        rest => {
            let version = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            version
                .map(str::trim_ascii)
                .filter(|version| dependency::is_version(version))
                .ok_or_else(refuse)?
        }
    };
    Ok(SourcePackage { name: name.to_string(), version: version.to_string() })
}

/// Parses `name <address>`, or several of them behind commas. A name may hold commas; a text without address is a
/// name. Nothing is refused: who maintains a package is no reason to lose it.
fn parse_maintainers(value: &str) -> Vec<Maintainer> {
    let mut maintainers = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        let (name, email, behind) =
            match rest.split_once('<').map(|(name, rest)| (name, rest.split_once('>'))) {
                Some((name, Some((email, behind)))) => (name, Some(email.trim_ascii()), behind),
                _ => (rest, None, ""),
            };
        let name = name.trim_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        let unquoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
        let email = email.filter(|email| !email.is_empty());
        if !unquoted.is_empty() || email.is_some() {
            maintainers.push(Maintainer { name: unquoted.to_string(), email: email.map(str::to_string) });
        }
        rest = behind;
    }
    maintainers
}

fn parse_tags(stanza: &Stanza<'_>) -> Checked<Vec<Tag>> {
    let Some(field) = stanza.get("Tag") else { return Ok(Vec::new()) };
    let words = field.value.split(',').map(str::trim_ascii).filter(|word| !word.is_empty());
    words
        .map(|word| match word.split_once("::") {
            Some((facet, tag))
                if !facet.is_empty() && !tag.is_empty() && !word.contains(char::is_whitespace) =>
            {
                Ok(Tag { facet: facet.to_string(), tag: tag.to_string() })
            }
            _ => Err(Refused::new(field.line, format!("Tag: expected `facet::tag`, found {}", quote(word)))),
        })
        .collect()
}

fn parse_relations(stanza: &Stanza<'_>) -> Checked<Vec<Relation>> {
    let mut relations = Vec::new();
    for kind in RelationKind::ALL {
        let Some(field) = stanza.get(kind.field_name()) else { continue };
        for (group, alternatives) in (0..).zip(parse_dependencies(field)?) {
            for (alternative, to) in (0..).zip(alternatives) {
                relations.push(Relation { kind, group, alternative, to });
            }
        }
    }
    Ok(relations)
}

fn parse_provides(stanza: &Stanza<'_>) -> Checked<Vec<Provided>> {
    let Some(field) = stanza.get("Provides") else { return Ok(Vec::new()) };
    let refuse = |reason: &str| Refused::new(field.line, format!("Provides: {reason}"));
    let mut provides = Vec::new();
    for mut alternatives in parse_dependencies(field)? {
        let one = alternatives.pop().expect("a group has at least one alternative");
        if !alternatives.is_empty() {
            return Err(refuse(&format!("expected no alternatives, found `|` before {}", quote(&one.name))));
        }
        let version = match one.constraint {
            None => None,
            Some(Constraint { operator: Operator::Equal, version }) => Some(version),
            Some(other) => {
                return Err(refuse(&format!("expected `=`, found `{}` at {}", other.operator, one.name)));
            }
        };
        provides.push(Provided { name: one.name, architecture: one.architecture, version });
    }
    Ok(provides)
}

fn parse_dependencies(field: Field<'_>) -> Checked<Vec<Vec<Dependency>>> {
    dependency::parse(field.value)
        .map_err(|reason| Refused::new(field.line, format!("{}: {reason}", field.name)))
}

#[cfg(test)]
mod tests;
