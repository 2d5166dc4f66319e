//! Facts about reading packages, on small stanzas, damaged ones and the two releases of `data/debian`.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Instant;

use annals_exchange::import::Source;

use super::*;

fn read(input: &str) -> Vec<Checked<Package>> {
    PackageReader::new(input.as_bytes()).map(|package| package.unwrap()).collect()
}

fn read_one(fields: &str) -> Checked<Package> {
    let mut packages = read(&format!("Package: a\nVersion: 1-1\nArchitecture: all\n{fields}"));
    assert_eq!(packages.len(), 1);
    packages.remove(0)
}

fn reason(fields: &str) -> String {
    read_one(fields).unwrap_err().to_string()
}

fn bare(line: u64, name: &str) -> Package {
    Package {
        line,
        name: name.to_string(),
        version: "1-1".to_string(),
        architecture: "all".to_string(),
        multi_arch: None,
        source: SourcePackage { name: name.to_string(), version: "1-1".to_string() },
        section: None,
        priority: None,
        is_essential: false,
        maintainers: vec![],
        tags: vec![],
        homepage: None,
        summary: None,
        installed_size_kib: None,
        size_bytes: None,
        relations: vec![],
        provides: vec![],
    }
}

fn maintainer(name: &str, email: &str) -> Maintainer {
    let email = (!email.is_empty()).then(|| email.to_string());
    Maintainer { name: name.to_string(), email }
}

fn to(name: &str) -> Dependency {
    let name = name.to_string();
    Dependency { name, architecture: None, constraint: None, architectures: vec![], profiles: vec![] }
}

#[test]
fn a_whole_stanza_is_read() {
    let package = read_one(
        "Source: src (2:1-1)\nSection: net\nPriority: required\nEssential: yes\nMulti-Arch: foreign\n\
         Maintainer: Ann Example <ann@example.org>\nTag: role::program,\n uitoolkit::sdl\nHomepage: https://a.example/\n\
         Description: first line\n more lines\nInstalled-Size: 12\nSize: 3456\nUnknown-Field: x\n\
         Pre-Depends: p\nDepends: x (>= 1) | y:any, z\nProvides: v (= 3), w\n",
    );
    let at_least_1 = Constraint { operator: Operator::LaterOrEqual, version: "1".to_string() };
    let relation = |kind, group, alternative, to| Relation { kind, group, alternative, to };
    let provided = |name: &str, version: Option<&str>| Provided {
        name: name.to_string(),
        architecture: None,
        version: version.map(str::to_string),
    };
    let tag = |facet: &str, tag: &str| Tag { facet: facet.to_string(), tag: tag.to_string() };
    let expected = Package {
        multi_arch: Some("foreign".to_string()),
        source: SourcePackage { name: "src".to_string(), version: "2:1-1".to_string() },
        section: Some("net".to_string()),
        priority: Some("required".to_string()),
        is_essential: true,
        maintainers: vec![maintainer("Ann Example", "ann@example.org")],
        tags: vec![tag("role", "program"), tag("uitoolkit", "sdl")],
        homepage: Some("https://a.example/".to_string()),
        summary: Some("first line".to_string()),
        installed_size_kib: Some(12),
        size_bytes: Some(3456),
        relations: vec![
            relation(RelationKind::Depends, 0, 0, Dependency { constraint: Some(at_least_1), ..to("x") }),
            relation(
                RelationKind::Depends,
                0,
                1,
                Dependency { architecture: Some("any".to_string()), ..to("y") },
            ),
            relation(RelationKind::Depends, 1, 0, to("z")),
            relation(RelationKind::PreDepends, 0, 0, to("p")),
        ],
        provides: vec![provided("v", Some("3")), provided("w", None)],
        ..bare(1, "a")
    };
    assert_eq!(package, Ok(expected));
}

#[test]
fn every_kind_of_relation_is_read() {
    for kind in RelationKind::ALL {
        let package = read_one(&format!("{}: x", kind.field_name())).unwrap();
        assert_eq!(package.relations, [Relation { kind, group: 0, alternative: 0, to: to("x") }]);
    }
}

#[test]
fn a_package_without_source_is_its_own_source() {
    assert_eq!(read_one(""), Ok(bare(1, "a")));
}

#[test]
fn maintainers_are_split_behind_their_addresses() {
    let maintainers = |value: &str| read_one(&format!("Maintainer: {value}")).unwrap().maintainers;
    assert_eq!(maintainers("A B <a@b>,"), [maintainer("A B", "a@b")]);
    assert_eq!(maintainers("A <a@b>, C <c@d>"), [maintainer("A", "a@b"), maintainer("C", "c@d")]);
    assert_eq!(maintainers("A, Jr. <a@b>"), [maintainer("A, Jr.", "a@b")]);
    assert_eq!(maintainers("\"A (B)\" <a@b>"), [maintainer("A (B)", "a@b")]);
    assert_eq!(maintainers("A \"B\" C <a@b>"), [maintainer("A \"B\" C", "a@b")]);
}

#[test]
fn a_malformed_maintainer_loses_no_package() {
    let maintainers = |value: &str| read_one(&format!("Maintainer: {value}")).unwrap().maintainers;
    assert_eq!(maintainers("nobody"), [maintainer("nobody", "")]);
    assert_eq!(maintainers("A <a@b"), [maintainer("A <a@b", "")]);
    assert_eq!(maintainers("A > b <"), [maintainer("A > b <", "")]);
    assert_eq!(maintainers("<>,,"), []);
    assert_eq!(maintainers("\""), [maintainer("\"", "")]);
}

#[test]
fn a_bad_field_is_refused_with_its_line() {
    let lines = [
        ("Depends: b (>= 1\n", "line 4: Depends: expected `)` behind the version, found the end"),
        ("Tag: x::y,\n z\n", "line 4: Tag: expected `facet::tag`, found `z`"),
        ("Tag: x::y z\n", "line 4: Tag: expected `facet::tag`, found `x::y z`"),
        ("Size: 12 MB\n", "line 4: Size: expected a whole number, found `12 MB`"),
        ("Size: -1\n", "line 4: Size: expected a whole number, found `-1`"),
        (
            "Section: x\nInstalled-Size: 99999999999999999999\n",
            "line 5: Installed-Size: expected a whole number, found `99999999999999999999`",
        ),
        ("Essential: maybe\n", "line 4: Essential: expected `yes` or `no`, found `maybe`"),
        ("Source: x (\n", "line 4: Source: expected `name` or `name (version)`, found `x (`"),
        ("Source: x )1(\n", "line 4: Source: expected `name` or `name (version)`, found `x )1(`"),
        ("Provides: v (>= 3)\n", "line 4: Provides: expected `=`, found `>=` at v"),
        ("Provides: v | w\n", "line 4: Provides: expected no alternatives, found `|` before `w`"),
    ];
    for (fields, expected) in lines {
        assert_eq!(reason(fields), expected);
    }
}

#[test]
fn name_version_and_architecture_are_required() {
    let packages = read(
        "Version: 1\n\nPackage: a\nVersion:\n\nPackage: a\nVersion: 1\n\nPackage: a b\nVersion: 1\n\n\
         Package: a\nVersion: 1 2\n\nPackage: b\nVersion: 1-1\nArchitecture: all\n",
    );
    let refused = |line, reason: &str| Err(Refused::new(line, reason));
    let expected = [
        refused(1, "expected the field Package, found none"),
        refused(3, "expected the field Version, found none"),
        refused(6, "expected the field Architecture, found none"),
        refused(9, "Package: expected a package name, found `a b`"),
        refused(13, "Version: expected a version, found `1 2`"),
        Ok(bare(15, "b")),
    ];
    assert_eq!(packages, expected);
}

#[test]
fn reading_ends_behind_a_broken_input() {
    let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff];
    let source = Source::from_reader("test", Cursor::new(packed)).unwrap();
    let mut packages = PackageReader::new(source);
    assert_eq!(packages.next().unwrap().unwrap_err().kind(), annals::ErrorKind::Io);
    assert!(packages.next().is_none());
}

/// Changes single bytes of a whole stanza in all ways that syntax cares about.
#[test]
fn no_damaged_byte_makes_the_reader_panic_or_stop() {
    let good = "Package: a\nVersion: 1-1\nArchitecture: all\nSource: s (1)\nMaintainer: A <a@b>, C <c@d>\n\
                Tag: x::y,\n z::w\nSize: 12\nDepends: b:any (>= 1) [i386] <!x> | c, d\nProvides: e (= 2)\n";
    let next = "Package: b\nVersion: 1-1\nArchitecture: all\n";
    for place in 0..good.len() {
        for byte in b"\n\r\t ,|()[]<>:=!\"a0-\x00\xff\xc3".iter().copied() {
            let mut input = good.as_bytes().to_vec();
            input[place] = byte;
            input.extend(b"\n\n");
            input.extend(next.as_bytes());
            let last = PackageReader::new(input.as_slice()).map(|package| package.unwrap()).last();
            assert_eq!(last.unwrap().unwrap().name, "b", "byte {byte:#x} at {place}");
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    packages: usize,
    essential: usize,
    maintainers: usize,
    tags: usize,
    relations: usize,
    provides: usize,
}

/// Counts the packages of the index at `path`, none of which may be refused.
fn count(path: &Path) -> Counts {
    let mut counts = Counts::default();
    for package in PackageReader::new(Source::open(path).unwrap()) {
        let package = package.unwrap().unwrap();
        counts.packages += 1;
        counts.essential += usize::from(package.is_essential);
        counts.maintainers += package.maintainers.len();
        counts.tags += package.tags.len();
        counts.relations += package.relations.len();
        counts.provides += package.provides.len();
    }
    counts
}

/// The counts were taken by a separate script that only splits at commas and bars.
#[test]
fn both_releases_of_the_demo_are_read_without_refusal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/debian");
    let bookworm = count(&folder.join("bookworm.Packages.gz"));
    let trixie = count(&folder.join("trixie.Packages.gz"));
    let bookworm_expected = Counts {
        packages: 11_383,
        essential: 22,
        maintainers: 11_383,
        tags: 25_945,
        relations: 93_149,
        provides: 3_331,
    };
    let trixie_expected = Counts {
        packages: 11_821,
        essential: 20,
        maintainers: 11_821,
        tags: 24_120,
        relations: 96_736,
        provides: 4_382,
    };
    assert_eq!((bookworm, trixie), (bookworm_expected, trixie_expected));
}

/// Reads the complete indexes named in `ANNALS_DEBIAN_INDEXES` (paths, separated by `:`) and tells the rate.
#[test]
#[ignore = "needs complete indexes: ANNALS_DEBIAN_INDEXES=<path>:<path> cargo test --release -p annals-debian complete_indexes -- --ignored --nocapture"]
fn complete_indexes_are_read_without_refusal() {
    let paths = std::env::var_os("ANNALS_DEBIAN_INDEXES").expect("ANNALS_DEBIAN_INDEXES names the files");
    let paths: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    for path in paths {
        let start = Instant::now();
        let counts = count(&path);
        let seconds = start.elapsed().as_secs_f64();
        let rate = counts.packages as f64 / seconds;
        println!("{}: {counts:?} in {seconds:.3} s, {rate:.0} packages/s", path.display());
    }
}
