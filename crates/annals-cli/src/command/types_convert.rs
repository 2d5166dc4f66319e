//! `annals types convert`: the values of a property become values of another kind.

use std::time::Duration;

use annals::{Error, ErrorKind, Value, ValueType};
use annals_exchange::import::value_of_text;
use annals_exchange::text::{count, one_line, value_to_text};
use annals_json::value_to_json;
use clap::Args;
use serde_json::{Value as Json, json};

use super::apply::send;
use super::listing::json_of_line;
use crate::context::{Access, Context, SignatureArguments};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::shown::{Shown, value_of};
use crate::stop::{Outcome, REFUSED_LINES, Stop};

/// How often a batch is read again, because somebody else has changed an instance meanwhile.
const TRIES_MAX: u32 = 20;
/// The pause before the second of these tries; each later one is longer by it.
const TRY_AGAIN_PAUSE: Duration = Duration::from_millis(25);
/// A value in a message is cut here. Units: characters.
const VALUE_LENGTH_MAX: usize = 60;

/// Convert the values of a property to another kind, such as texts of an import to numbers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals types convert airport elevation float --dry-run     counts, and names the values that are no numbers
  annals types convert airport elevation float
  annals types convert reads since date --relationships
It writes one record for each batch, and leaves values of this kind as they are, so repeat it after an interruption, or after
you have corrected the values that it refuses; the exit code is 6 then. The history keeps the former values.
A type that declares the property as another kind refuses it: convert first, then declare the type.")]
pub struct Arguments {
    /// Type of the instances, subtypes included
    #[arg(value_name = "TYPE")]
    type_name: String,
    /// The property
    property: String,
    /// boolean, integer, float, decimal, text, date, timestamp, duration, uuid or iri
    #[arg(value_parser = kind)]
    kind: ValueType,
    /// It is a type of relationships
    #[arg(long = "relationships")]
    is_relationships: bool,
    /// Check everything and write nothing
    #[arg(long = "dry-run")]
    is_dry_run: bool,
    /// Instances in one batch
    #[arg(long, default_value_t = 5_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    batch: u64,
    /// Show at most this many refused values; the rest are only counted
    #[arg(long, default_value_t = 100, value_name = "N")]
    errors_max: u64,
    #[command(flatten)]
    signature: SignatureArguments,
}

fn kind(name: &str) -> Result<ValueType, String> {
    Ok(match name {
        "boolean" => ValueType::Boolean,
        "integer" | "int" | "long" => ValueType::Integer,
        "float" | "double" => ValueType::Float,
        "decimal" => ValueType::Decimal,
        "text" | "string" => ValueType::String,
        "date" => ValueType::Date,
        "timestamp" | "datetime" => ValueType::Timestamp,
        "duration" => ValueType::Duration,
        "uuid" => ValueType::Uuid,
        "iri" => ValueType::Iri,
        _ => {
            let kinds = "boolean, integer, float, decimal, text, date, timestamp, duration, uuid or iri";
            return Err(format!("expected {kinds}"));
        }
    })
}

/// The result so far.
#[derive(Default)]
struct Sum {
    converted_count: u64,
    unchanged_count: u64,
    refused_count: u64,
    records_count: u64,
    position: u64,
}

/// A batch as it was read.
struct Batch {
    /// The operations that convert it.
    operations: Vec<Json>,
    unchanged_count: u64,
    /// Shape: `[(id, value, reason)]`.
    refused: Vec<(String, String, String)>,
    next: Option<String>,
}

/// Converts batch by batch, and prints what was done.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    context.enter(Access::Write)?;
    let mut sum = Sum::default();
    let outcome = convert(context, arguments, &mut sum);
    print(context, arguments, &sum)?;
    context.leave()?;
    outcome?;
    if sum.refused_count > 0 { Err(Stop::Silent(REFUSED_LINES)) } else { Ok(()) }
}

fn convert(context: &mut Context, arguments: &Arguments, sum: &mut Sum) -> Outcome {
    let mut after = None;
    loop {
        let batch = write(context, arguments, after.as_deref(), sum)?;
        sum.unchanged_count += batch.unchanged_count;
        for (id, value, reason) in &batch.refused {
            sum.refused_count += 1;
            if sum.refused_count > arguments.errors_max {
                continue;
            }
            if context.output.is_json() {
                tell!("{}", json!({ "refused": { "id": id, "value": value, "reason": reason } }));
            } else {
                let value: String = one_line(value).chars().take(VALUE_LENGTH_MAX).collect();
                tell!(
                    "{}: {} stays {value}: {}",
                    one_line(id),
                    one_line(&arguments.property),
                    one_line(reason)
                );
            }
        }
        match batch.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Reads a batch and writes it. If somebody else has changed one of its instances meanwhile, it is read again.
fn write(context: &mut Context, arguments: &Arguments, after: Option<&str>, sum: &mut Sum) -> Outcome<Batch> {
    let mut tries_count = 0;
    loop {
        let batch = read(context, arguments, after)?;
        if batch.operations.is_empty() {
            return Ok(batch);
        }
        tries_count += 1;
        let mut signature = arguments.signature.clone();
        if signature.message.is_empty() {
            let Arguments { type_name, property, kind, .. } = arguments;
            signature.message = format!("convert {type_name}.{property} to {}", name_of(*kind));
        }
        match send(context, &batch.operations, &signature, arguments.is_dry_run) {
            Ok(receipt) => {
                let receipt = Shown(&receipt);
                let converted_count = receipt.number("changes");
                if converted_count == 0 {
                    let Arguments { type_name, property, kind, .. } = arguments;
                    let text = format!(
                        "property {property}: the type {type_name} declares it, and reads values of kind {} as what it declares",
                        name_of(*kind)
                    );
                    return Err(Error::new(ErrorKind::TypeViolation, text).into());
                }
                sum.converted_count += converted_count;
                // Subtypes may declare it, too.
                sum.unchanged_count += (batch.operations.len() as u64).saturating_sub(converted_count);
                sum.records_count += u64::from(!arguments.is_dry_run);
                sum.position = receipt.number("position");
                return Ok(batch);
            }
            Err(stop)
                if tries_count < TRIES_MAX
                    && matches!(stop.kind(), Some(ErrorKind::PreconditionFailed | ErrorKind::Conflict)) =>
            {
                std::thread::sleep(TRY_AGAIN_PAUSE * tries_count);
            }
            Err(stop) => return Err(stop),
        }
    }
}

fn read(context: &mut Context, arguments: &Arguments, after: Option<&str>) -> Outcome<Batch> {
    let kind = if arguments.is_relationships { "relationship" } else { "entity" };
    let mut body = json!({
        "kind": kind,
        "type": [arguments.type_name],
        "where": [{ "property": arguments.property, "operator": "exists" }],
        "limit": arguments.batch,
    });
    if let Some(after) = after {
        body["after"] = after.into();
    }
    let request = context.of_candidate(Request::post("/v1/find", &body)).lines();
    let mut answer = context.ask(request)?;
    let mut batch = Batch { operations: Vec::new(), unchanged_count: 0, refused: Vec::new(), next: None };
    while let Some(line) = answer.line()? {
        match line {
            AnswerLine::Next(next) => batch.next = Some(next),
            AnswerLine::Item(line) => {
                let item = json_of_line(&line)?;
                batch.add(arguments, kind, Shown(&item));
            }
        }
    }
    Ok(batch)
}

impl Batch {
    fn add(&mut self, arguments: &Arguments, kind: &str, item: Shown) {
        let value = value_of(item.of("properties").of(&arguments.property).0);
        let converted = match item.optional("home") {
            Some(home) => Err(format!("it is a copy from {home}")),
            None => converted(&value, arguments.kind),
        };
        match converted {
            Ok(None) => self.unchanged_count += 1,
            Ok(Some(converted)) => {
                let mut patch = json!({});
                patch[&arguments.property] = value_to_json(&converted);
                self.operations.push(json!({
                    "action": "update", "kind": kind, "id": item.text("id"), "patch": patch,
                    "ifVersion": item.number("version"),
                }));
            }
            Err(reason) => self.refused.push((item.text("id").to_owned(), value_to_text(&value), reason)),
        }
    }
}

/// The value as one of another type; `None` if it is one.
///
/// Errors: the reason.
fn converted(value: &Value, to: ValueType) -> Result<Option<Value>, String> {
    if value.value_type() == to && !matches!(value, Value::Set(_)) {
        return Ok(None);
    }
    if !value.is_scalar() {
        return Err("expected one value, found several".to_owned());
    }
    match (value, to) {
        (Value::Float(number), ValueType::Integer) if number.fract() == 0.0 => {
            value_of_text(to, &format!("{number:.0}")).map(Some)
        }
        _ => value_of_text(to, value.as_str().unwrap_or(&value_to_text(value))).map(Some),
    }
}

fn name_of(kind: ValueType) -> &'static str {
    if kind == ValueType::String { "text" } else { kind.name() }
}

fn print(context: &mut Context, arguments: &Arguments, sum: &Sum) -> Outcome {
    let Sum { converted_count, unchanged_count, refused_count, records_count, position } = *sum;
    if context.output.is_json() {
        return context.output.json(&json!({
            "converted": converted_count, "unchanged": unchanged_count, "refused": refused_count,
            "records": records_count, "position": position, "dryRun": arguments.is_dry_run,
        }));
    }
    let what = format!(
        "{} values of {}.{} to {}",
        count(converted_count),
        one_line(&arguments.type_name),
        one_line(&arguments.property),
        name_of(arguments.kind)
    );
    let others = format!("refused {}, {} were so already", count(refused_count), count(unchanged_count));
    context.output.line(match (arguments.is_dry_run, records_count) {
        (true, _) => format!("would convert {what}, {others}; nothing was written"),
        (false, 0) => format!("converted {what}, {others}"),
        (false, records) => {
            let unit = if records == 1 { "record" } else { "records" };
            format!("converted {what} in {} {unit}, {others}; now at position {position}", count(records))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_becomes_one_of_another_kind_or_says_why_not() {
        let text = |text: &str| Value::from(text);
        assert_eq!(converted(&text("1357.5"), ValueType::Float), Ok(Some(Value::Float(1357.5))));
        assert_eq!(converted(&Value::Integer(7), ValueType::Float), Ok(Some(Value::Float(7.0))));
        assert_eq!(converted(&Value::Float(7.0), ValueType::Integer), Ok(Some(Value::Integer(7))));
        assert_eq!(converted(&Value::Float(7.0), ValueType::Float), Ok(None));
        assert_eq!(converted(&Value::Integer(7), ValueType::String), Ok(Some(text("7"))));
        assert_eq!(converted(&Value::Boolean(true), ValueType::String), Ok(Some(text("true"))));
        for (value, to) in [
            (text("n/a"), ValueType::Float),
            (Value::Float(7.5), ValueType::Integer),
            (Value::Float(1e300), ValueType::Integer),
            (Value::Float(f64::NAN), ValueType::Integer),
            (Value::List([Value::Integer(1)].into()), ValueType::Integer),
        ] {
            assert!(converted(&value, to).is_err(), "{value:?}");
        }
    }
}
