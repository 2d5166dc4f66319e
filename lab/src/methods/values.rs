//! The property values of the suite: derived from the number of an instance within its type, and partly random.

use std::sync::Arc;

use annals::{Instant, Value};

use super::archive::{Attribute, Form};
use crate::graph::Random;

/// Properties by name, as the engine takes them.
pub type Properties = Vec<(Arc<str>, Value)>;

/// Makes values.
pub struct Values {
    instances: usize,
    random: Random,
}

impl Values {
    /// For this many instances per type.
    pub fn new(instances: usize, seed: u64) -> Values {
        Values { instances, random: Random::new(seed) }
    }

    /// Values of all attributes, for the instance with this number.
    pub fn all(&mut self, attributes: &[Attribute], number: usize) -> Properties {
        let mut properties: Properties = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            if !properties.iter().any(|(name, _)| *name == attribute.name) {
                properties.push((Arc::clone(&attribute.name), self.one(attribute, number)));
            }
        }
        properties
    }

    /// Every other instance gets distinct values; those of unique attributes always are.
    pub fn one(&mut self, attribute: &Attribute, number: usize) -> Value {
        let is_distinct = attribute.is_unique || number % 2 == 1;
        let of_type = self.instances as i64;
        let own = number as i64;
        match attribute.form {
            Form::Text if is_distinct => Value::from(format!("{}.{number}", attribute.name)),
            Form::Text => Value::from(&*attribute.name),
            Form::Integer if is_distinct => Value::from(of_type + own),
            Form::Integer => Value::from(self.random.below(self.instances) as i64),
            Form::Long if is_distinct => Value::from(10 * of_type + own),
            Form::Long => Value::from(self.random.below(10 * self.instances) as i64),
            Form::Float if is_distinct => Value::from(1.1 * of_type as f64 + own as f64),
            Form::Float => Value::from(1.1 * of_type as f64 * self.random.share()),
            Form::Boolean => Value::from(self.random.below(2) == 1),
            Form::Timestamp => Value::from(now()),
        }
    }

    /// A random id, as in the callers of the original.
    pub fn id(&mut self) -> annals::Id {
        let bits = u128::from(self.random.next()) << 64 | u128::from(self.random.next());
        // Source: RFC 9562, section 5.4 (version 4, variant 10).
        let bits = bits & !(0xF << 76) & !(0b11 << 62) | 0x4 << 76 | 0b10 << 62;
        annals::Id::from_uuid_bytes(bits.to_be_bytes())
    }
}

/// The instant, cut to milliseconds as in the original.
fn now() -> Instant {
    let now = Instant::now();
    Instant::from_micros(now.micros() / 1_000 * 1_000).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_instance_has_distinct_values() {
        let attribute = |name: &str, form, is_unique| Attribute { name: name.into(), form, is_unique };
        let mut values = Values::new(5, 1);
        let name = attribute("name", Form::Text, false);
        let unique = attribute("qualifiedName", Form::Text, true);
        let size = attribute("size", Form::Integer, false);
        assert_eq!(values.one(&name, 2), Value::from("name"));
        assert_eq!(values.one(&name, 3), Value::from("name.3"));
        assert_eq!(values.one(&unique, 2), Value::from("qualifiedName.2"));
        assert_eq!(values.one(&size, 3), Value::from(8));
        assert!((0..5).contains(&values.one(&size, 2).as_integer().unwrap()));
    }
}
