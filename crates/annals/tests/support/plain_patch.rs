//! Properties of the plain model, and what a patch makes of them.

use std::sync::Arc;

use annals::*;

use super::reference::{Outcome, Properties};

pub fn map_of(entries: &[(Arc<str>, Value)]) -> Properties {
    entries.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

pub fn entries(properties: &Properties) -> Vec<(Arc<str>, Value)> {
    properties.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect()
}

pub fn apply_patch(properties: &mut Properties, patch: &Patch) -> Outcome {
    for step in &patch.steps {
        match step {
            PatchStep::Set(name, value) => {
                properties.insert(name.to_string(), value.clone());
            }
            PatchStep::Unset(name) => {
                properties.remove(&**name);
            }
            PatchStep::Add(name, value) => {
                let mut values: Vec<Value> = match properties.get(&**name) {
                    None => Vec::new(),
                    Some(Value::Set(values)) => values.iter().collect(),
                    Some(single) if single.is_scalar() => vec![single.clone()],
                    Some(_) => return Err(ErrorKind::InvalidArgument),
                };
                values.push(value.clone());
                properties.insert(name.to_string(), Value::set(values).map_err(|error| error.kind())?);
            }
            PatchStep::Remove(name, value) => match properties.get(&**name) {
                Some(Value::Set(values)) => {
                    let rest: Vec<Value> = values.iter().filter(|known| known != value).collect();
                    if rest.is_empty() {
                        properties.remove(&**name);
                    } else {
                        properties.insert(name.to_string(), Value::set(rest).expect("members are scalars"));
                    }
                }
                Some(single) if single == value => {
                    properties.remove(&**name);
                }
                _ => {}
            },
            PatchStep::Clear => properties.clear(),
            _ => unreachable!("all steps are known"),
        }
    }
    Ok(())
}
