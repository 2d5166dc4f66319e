//! Transactions: changes, and their commit.

use std::sync::{Arc, Mutex};

use annals::{Id, InstanceId, NewEntity, NewRelationship, Patch, PatchStep, Result, Transaction};
use annals_json::{Object, invalid, json_from_slice, operation_from_json};
use serde_json::{Value as Json, json};

use crate::argument::{flag, object, text};
use crate::handles::{self, Open, Thing};
use crate::packed::{Reader, Writer};

/// Begins a transaction; settings as of `Native.begin`.
pub fn begin(repository: i64, settings: &[u8]) -> Result<i64> {
    let mut transaction = handles::repository(repository)?.repository()?.transaction();
    let settings = object(settings, "settings")?;
    if flag(&settings, "serializable")? {
        transaction.serializable();
    }
    set(&mut transaction, &settings)?;
    Ok(handles::add(Thing::Transaction(Arc::new(Mutex::new(Open::Yes(Box::new(transaction)))))))
}

fn set(transaction: &mut Transaction, settings: &Object) -> Result<()> {
    if let Some(author) = text(settings, "author")? {
        transaction.author(author);
    }
    if let Some(message) = text(settings, "message")? {
        transaction.message(message);
    }
    if let Some(instant) = text(settings, "committedAt")? {
        transaction.committed_at(instant.parse()?);
    }
    if settings.contains_key("validFrom") {
        let instant = text(settings, "validFrom")?.map(str::parse).transpose()?;
        transaction.valid_from(instant);
    }
    if settings.contains_key("always") {
        transaction.always(flag(settings, "always")?);
    }
    Ok(())
}

/// Adds a change by its number in `Native.apply`.
pub fn apply(transaction: i64, operation: i32, request: &[u8]) -> Result<Vec<u8>> {
    handles::with_whole(transaction, |transaction| {
        let mut out = Writer::default();
        let mut input = Reader::new(request);
        match operation {
            1 => {
                let (id, type_name) = (id(&mut input)?, input.text()?);
                let mut new = NewEntity::new(type_name);
                if let Some(id) = id {
                    new.id = id;
                }
                new.properties = input.properties()?;
                input.end()?;
                out.text(&transaction.create_entity(new)?.to_string());
            }
            2 => {
                let (id, type_name) = (id(&mut input)?, input.text()?);
                let (from, to) = (Id::new(input.text()?)?, Id::new(input.text()?)?);
                let mut new = NewRelationship::new(type_name, from, to);
                if let Some(id) = id {
                    new.id = id;
                }
                new.properties = input.properties()?;
                input.end()?;
                out.text(&transaction.create_relationship(new)?.to_string());
            }
            3 => {
                let instance = instance(&mut input)?;
                let steps =
                    (0..input.count()?).map(|_| step(&mut input)).collect::<Result<Vec<PatchStep>>>()?;
                input.end()?;
                transaction.update(&instance, Patch { steps })?;
            }
            4 => {
                let instance = instance(&mut input)?;
                match input.u8()? {
                    0 => transaction.delete(&instance)?,
                    _ => transaction.purge(&instance)?,
                }
            }
            5 => out.0 = operations(transaction, request)?.to_string().into_bytes(),
            6 => set(transaction, &object(request, "settings")?)?,
            other => return Err(invalid(format!("apply: expected an operation of 1 to 6, found {other}"))),
        }
        Ok(out.0)
    })
}

fn id(input: &mut Reader<'_>) -> Result<Option<Id>> {
    let text = input.text()?;
    (!text.is_empty()).then(|| Id::new(text)).transpose()
}

fn instance(input: &mut Reader<'_>) -> Result<InstanceId> {
    let kind = input.u8()?;
    let id = Id::new(input.text()?)?;
    Ok(if kind == 0 { InstanceId::Entity(id) } else { InstanceId::Relationship(id) })
}

fn step(input: &mut Reader<'_>) -> Result<PatchStep> {
    let (kind, name) = (input.u8()?, input.text()?.into());
    Ok(match kind {
        0 => PatchStep::Set(name, input.value()?),
        1 => PatchStep::Unset(name),
        2 => PatchStep::Add(name, input.value()?),
        3 => PatchStep::Remove(name, input.value()?),
        4 => PatchStep::Clear,
        other => return Err(invalid(format!("step: expected 0 to 4, found {other}"))),
    })
}

fn operations(transaction: &mut Transaction, request: &[u8]) -> Result<Json> {
    let json = json_from_slice(request).map_err(|fault| invalid(format!("operations: {fault}")))?;
    let Json::Array(operations) = json else { return Err(invalid("operations: expected an array")) };
    let (mut ids, mut stays) = (Vec::new(), Vec::new());
    let valid_from = transaction.own_valid_from();
    for (index, operation) in operations.iter().enumerate() {
        let added = operation_from_json(operation)
            .and_then(|operation| operation.add_to(transaction, valid_from))
            .map_err(|error| error.with("operation", index));
        // An operation with a valid time of its own leaves it for later changes.
        transaction.valid_from(valid_from);
        let added = added?;
        ids.extend(added.created.map(|id| id.to_string()));
        for kept in added.taken_back.into_iter().flat_map(|taken| taken.stays) {
            stays.push(json!({ "instance": kept.instance.to_string() }));
        }
    }
    Ok(json!({ "ids": ids, "stays": stays }))
}

/// Commits; the handle is closed, also after an error. Shape: position and instant.
pub fn commit(transaction: i64) -> Result<Vec<u8>> {
    let receipt = handles::take_transaction(transaction)?.commit()?;
    let mut out = Writer::default();
    out.i64(i64::try_from(receipt.position.0).unwrap_or(i64::MAX));
    out.i64(receipt.instant.micros());
    Ok(out.0)
}
