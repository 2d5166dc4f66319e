//! The parsed part of a body; the rest is skipped, as a fast client would do.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The members with the found, created or visited instances.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Body {
    pub id: Option<String>,
    pub ids: Vec<Item>,
    pub items: Vec<Item>,
    pub entities: Vec<Item>,
    pub relationships: Vec<IgnoredAny>,
    pub next: Option<String>,
    pub instant: Option<String>,
}

/// The id of an element of a list: its own, or that of its entity; or the element itself.
#[derive(Debug)]
pub struct Item(pub Option<String>);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Item, D::Error> {
        from.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an id or an object")
    }

    fn visit_str<E>(self, text: &str) -> Result<Item, E> {
        Ok(Item(Some(text.to_owned())))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Item, M::Error> {
        let (mut own, mut of_entity) = (None, None);
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "id" => own = Some(members.next_value()?),
                "entity" => of_entity = members.next_value::<Item>()?.0,
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Item(own.or(of_entity)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_wherever_they_stand() {
        let text =
            r#"{"items": ["a", {"x": [1], "id": "b"}, {"entity": {"id": "c"}, "y": {}}, {"version": 1}]}"#;
        let body: Body = serde_json::from_str(text).unwrap();
        let ids: Vec<_> = body.items.iter().map(|item| item.0.as_deref()).collect();
        assert_eq!(ids, [Some("a"), Some("b"), Some("c"), None]);
        assert!(serde_json::from_str::<Body>(r#"{"items": [1]}"#).is_err());
    }
}
