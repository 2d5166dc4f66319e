//! What is written as JSON straight from where it stands, without a tree of JSON values.

use std::fmt::Display;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;

/// Anything that displays, as a string.
pub struct Text<'a, T>(pub &'a T);

impl<T: Display> Serialize for Text<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self.0)
    }
}

/// An object of two members.
pub struct Two<'a, A, B>(pub (&'a str, A), pub (&'a str, B));

impl<A: Serialize, B: Serialize> Serialize for Two<'_, A, B> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut form = to.serialize_map(Some(2))?;
        form.serialize_entry(self.0.0, &self.0.1)?;
        form.serialize_entry(self.1.0, &self.1.1)?;
        form.end()
    }
}

/// The tree of a form, to be changed before it is written.
pub fn tree(form: &impl Serialize) -> Json {
    serde_json::to_value(form).expect("all keys are strings, and nothing else can fail")
}
