//! A borrowed value.

use std::borrow::Cow;

use super::value::Value;

/// A value that the graph holds. Reading a string copies nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueRef<'v> {
    /// The text of a [`Value::String`].
    String(&'v str),
    /// Any other value.
    Other(Cow<'v, Value>),
}

impl ValueRef<'_> {
    /// An owned copy.
    #[inline]
    pub fn into_value(self) -> Value {
        match self {
            ValueRef::String(text) => Value::String(text.into()),
            ValueRef::Other(value) => value.into_owned(),
        }
    }
}

impl<'v> From<&'v Value> for ValueRef<'v> {
    fn from(value: &'v Value) -> ValueRef<'v> {
        match value {
            Value::String(text) => ValueRef::String(text),
            other => ValueRef::Other(Cow::Borrowed(other)),
        }
    }
}
