//! Small copies of what belongs to other collections.

use annals::*;

use super::named::id;

pub fn stamp(day: &str) -> Stamp {
    Stamp { instant: day.parse().unwrap(), author: "elsewhere".into() }
}

pub fn header(home: &str, version: u32) -> CopyHeader {
    CopyHeader {
        provenance: Provenance::of_home(home),
        version,
        status: None,
        created: stamp("2020-01-01"),
        updated: stamp("2020-02-01"),
    }
}

pub fn copy_of(text: &str, home: &str, version: u32) -> EntityCopy {
    EntityCopy {
        id: id(text),
        type_name: "t".into(),
        properties: vec![("version".into(), Value::from(i64::from(version)))],
        classifications: Vec::new(),
        header: header(home, version),
    }
}

pub fn link_copy(text: &str, from: &str, to: &str, home: &str) -> RelationshipCopy {
    let (from, to, header) = (id(from), id(to), header(home, 1));
    RelationshipCopy { id: id(text), type_name: "k".into(), from, to, properties: Vec::new(), header }
}

pub fn proxy(text: &str, home: &str) -> EntityProxy {
    let properties = vec![("key".into(), Value::from(text))];
    EntityProxy { properties, ..EntityProxy::new(id(text), "t", home) }
}
