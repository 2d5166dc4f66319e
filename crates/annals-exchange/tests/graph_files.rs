//! Graphs that are written for other programs read back as they were written, whatever texts they contain.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use annals::*;
use annals_exchange::export::{GraphFormat, GraphPart, Selected, Selection};
use quick_xml::Reader;
use quick_xml::events::Event;

/// Texts that a format might take for its own signs.
const ODD: &str = "a \"b\" <c> & 'd' \\N \\ {e} | é \u{1f600} ]]> &lt;";

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn repository() -> Repository {
    let repository = Repository::in_memory();
    repository
        .transact(|t| {
            let raw = NewEntity::new("table").id("raw \"x\" \\")?;
            let raw = raw.property("text", ODD).property("lines", "one\ntwo\r\n\tthree\u{1}");
            let raw = raw.property("count", 7).property("share", 0.5).property("is_big", true);
            let raw = raw.property("mixed", 1).property("image", "/etc/passwd").property("label", "mine");
            let raw = t.create_entity(raw.classified(ClassificationContent::new("pii")))?;
            let job = NewEntity::new("job & co").id("job")?;
            let job = job.property("mixed", "one").property("share", f64::NEG_INFINITY);
            let job = job.property("on", Value::Date("2025-08-09".parse()?));
            let job =
                t.create_entity(job.property("list", Value::List(vec![1.into(), "a".into()].into())))?;
            let reads = NewRelationship::new("reads", job.clone(), raw.clone()).id("r1")?;
            t.create_relationship(reads.property("since", 2005))?;
            t.create_relationship(NewRelationship::new("reads", job.clone(), raw).id("r2")?)?;
            let other = t.create_entity(NewEntity::new("table").id("far")?)?;
            t.create_relationship(NewRelationship::new("writes", job, other).id("w1")?)?;
            Ok(())
        })
        .unwrap();
    repository
}

fn written(format: GraphFormat, part: &(impl GraphPart + ?Sized)) -> String {
    let mut bytes = Vec::new();
    format.write(part, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A graph as it was read: nodes and edges by id, each with its data by the names of its keys, and the types of these.
#[derive(Debug, Default)]
struct Read {
    nodes: BTreeMap<String, BTreeMap<String, String>>,
    edges: BTreeMap<String, BTreeMap<String, String>>,
    keys: BTreeMap<(String, String), String>,
}

/// Reads GraphML as a strict reader does.
fn read_graphml(text: &str) -> Read {
    let (mut read, mut names) = (Read::default(), BTreeMap::new());
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let (mut open, mut key, mut datum) = (None, String::new(), String::new());
    loop {
        let event = reader.read_event().unwrap();
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(element) | Event::Empty(element) => {
                let attributes: BTreeMap<String, String> = element
                    .attributes()
                    .map(|attribute| {
                        let attribute = attribute.unwrap();
                        let name = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                        (name, attribute.unescape_value().unwrap().into_owned())
                    })
                    .collect();
                match element.name().as_ref() {
                    b"key" => {
                        let of = (attributes["for"].clone(), attributes["attr.name"].clone());
                        read.keys.insert(of, attributes["attr.type"].clone());
                        assert!(
                            names.insert(attributes["id"].clone(), attributes["attr.name"].clone()).is_none()
                        );
                    }
                    b"node" => {
                        let id = attributes["id"].clone();
                        assert!(read.nodes.insert(id.clone(), BTreeMap::new()).is_none(), "{id} twice");
                        open = (!is_empty).then_some((true, id));
                    }
                    b"edge" => {
                        let ends = ["source", "target"].map(|end| attributes[end].clone());
                        ends.iter()
                            .for_each(|end| assert!(read.nodes.contains_key(end), "{end} is declared"));
                        let ends = ["source", "target"].map(str::to_owned).into_iter().zip(ends);
                        read.edges.insert(attributes["id"].clone(), ends.collect());
                        open = Some((false, attributes["id"].clone()));
                    }
                    b"data" => (key, datum) = (names[&attributes["key"]].clone(), String::new()),
                    _ => {}
                }
            }
            Event::Text(text) => datum.push_str(&text.decode().unwrap()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref().unwrap() {
                Some(one) => datum.push(one),
                None => datum.push_str(
                    quick_xml::escape::resolve_predefined_entity(&reference.decode().unwrap()).unwrap(),
                ),
            },
            Event::End(element) if element.name().as_ref() == b"data" => {
                let (is_node, id) = open.clone().unwrap();
                let of = if is_node { &mut read.nodes } else { &mut read.edges };
                of.get_mut(&id).unwrap().insert(key.clone(), datum.clone());
            }
            Event::Eof => return read,
            _ => {}
        }
    }
}

#[test]
fn graphml_reads_back_with_typed_keys_and_any_text() {
    let repository = repository();
    let snapshot = repository.snapshot();
    let near = snapshot.neighborhood(&id("job"), &Reach::both().depth_max(1)).unwrap();
    let read = read_graphml(&written(GraphFormat::GraphMl, &near));
    assert_eq!(read.nodes.keys().collect::<Vec<_>>(), ["far", "job", "raw \"x\" \\"]);
    let raw = &read.nodes["raw \"x\" \\"];
    assert_eq!(raw["text"], ODD);
    assert_eq!(raw["lines"], "one\ntwo\r\n\tthree\u{fffd}");
    assert_eq!((&*raw["@type"], &*raw["@distance"], &*raw["@classifications"]), ("table", "1", "pii"));
    let job = &read.nodes["job"];
    assert_eq!((&*job["on"], &*job["share"], &*job["list"]), ("2025-08-09", "-INF", r#"[1,"a"]"#));
    assert_eq!((&*job["@type"], &*job["@distance"]), ("job & co", "0"));
    let key = |of: &str, name: &str| read.keys[&(of.to_owned(), name.to_owned())].clone();
    let types = ["count", "share", "is_big", "mixed", "text", "on"].map(|name| key("node", name));
    assert_eq!(types, ["long", "double", "boolean", "string", "string", "string"]);
    assert_eq!(key("edge", "since"), "long");
    assert_eq!(read.edges.len(), 3);
    let r1 = &read.edges["r1"];
    assert_eq!((&*r1["source"], &*r1["target"], &*r1["since"]), ("job", "raw \"x\" \\", "2005"));
    assert_eq!(r1["@type"], "reads");
}

#[test]
fn every_end_of_a_written_relationship_is_a_node() {
    let repository = repository();
    let snapshot = repository.snapshot();
    // The start is left out of the entities, its relationships are not.
    let near = snapshot.neighborhood(&id("job"), &Reach::both().depth(1)).unwrap();
    let read = read_graphml(&written(GraphFormat::GraphMl, &near));
    assert!(read.nodes["job"].is_empty());
    assert_eq!((read.nodes.len(), read.edges.len()), (3, 3));
    let paths = snapshot.shortest_paths(&id("far"), &id("raw \"x\" \\"), &Reach::both(), None).unwrap();
    let paths = paths.collect::<Result<Vec<_>>>().unwrap();
    let read = read_graphml(&written(GraphFormat::GraphMl, &paths[..]));
    assert_eq!((paths.len(), read.nodes.len(), read.edges.len()), (2, 3, 3), "each once");
}

#[test]
fn an_export_of_some_types_has_the_relationships_between_them() {
    let repository = repository();
    let snapshot = repository.snapshot();
    let counts = |types: &[&str]| {
        let selection = Selection { types: types.iter().map(|name| (*name).to_owned()).collect() };
        let selected = Selected { snapshot: &snapshot, selection: &selection };
        let read = read_graphml(&written(GraphFormat::GraphMl, &selected));
        let dot = written(GraphFormat::Dot, &selected);
        assert_eq!(dot.matches(" -> ").count(), read.edges.len());
        (read.nodes.len(), read.edges.len())
    };
    assert_eq!(counts(&[]), (3, 3));
    assert_eq!(counts(&["table", "job & co", "reads"]), (3, 2));
    assert_eq!(counts(&["table", "reads"]), (2, 0));
}

/// The texts between quotes without a backslash before them, as Graphviz reads DOT.
fn quoted_texts(dot: &str) -> Vec<String> {
    let (mut texts, mut open) = (Vec::new(), None::<String>);
    let mut letters = dot.chars().peekable();
    while let Some(letter) = letters.next() {
        match (&mut open, letter) {
            (Some(text), '\\') if letters.peek() == Some(&'"') => text.extend(letters.next()),
            // In a text a backslash and another one stay two.
            (Some(text), '\\') if letters.peek() == Some(&'\\') => {
                text.extend(['\\', letters.next().unwrap()])
            }
            (Some(_), '"') => texts.extend(open.take()),
            (Some(text), other) => text.push(other),
            (None, '"') => open = Some(String::new()),
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "every quote is closed");
    texts
}

#[test]
fn dot_is_what_graphviz_reads_and_has_no_attributes_of_users() {
    let repository = repository();
    let snapshot = repository.snapshot();
    let near = snapshot.neighborhood(&id("job"), &Reach::both().depth_max(1)).unwrap();
    let dot = written(GraphFormat::Dot, &near);
    let texts: BTreeSet<String> = quoted_texts(&dot).into_iter().collect();
    for text in ["job", "far", "raw \"x\" \\\\", "data-image", "data-label", "job\\njob &amp; co", "reads"] {
        assert!(texts.contains(text), "{text:?} in {dot}");
    }
    assert!(texts.contains(&ODD.replace('\\', "\\\\")), "{dot}");
    let names = texts.iter().filter(|text| text.starts_with("data-")).count();
    assert!(names > 8, "{dot}");
    assert!(!texts.contains("image") && !texts.contains("label"), "{dot}");
    // Graphviz itself, where it is there: `./test` installs it.
    let dot_command = Command::new("dot").arg("-Tplain").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut graphviz) = dot_command else { return };
    graphviz.stdin.take().unwrap().write_all(dot.as_bytes()).unwrap();
    let drawn = graphviz.wait_with_output().unwrap();
    assert!(drawn.status.success());
    let drawn = String::from_utf8(drawn.stdout).unwrap();
    let count = |what: &str| drawn.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!((count("node "), count("edge ")), (3, 3), "{drawn}");
}
