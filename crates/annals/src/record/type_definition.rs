//! Type definitions as CBOR. Missing fields take no byte, so definitions of earlier versions keep their bytes.

use std::sync::Arc;

use minicbor::Decoder;

use super::sink::Sink;
use super::texts::texts;
use super::value::{Read, array, code_of, decode_value, encode_value, malformed, map, variant};
use super::{attribute_key, end_key, type_key};
use crate::model::{
    AttributeDefinition, Containment, Deprecation, EndDefinition, EnumElement, TypeDefinition, TypeKind,
    ValueType,
};

pub(super) fn encode_type(out: &mut Sink, definition: &TypeDefinition) {
    let TypeDefinition { statuses, initial_status, elements, deprecation, external_id, .. } = definition;
    let optional = [
        definition.ends.is_some(),
        definition.is_propagatable,
        !statuses.is_empty(),
        initial_status.is_some(),
        !elements.is_empty(),
        deprecation.is_some(),
        external_id.is_some(),
        definition.version != 1,
        definition.is_advisory,
        definition.containment.is_some(),
        !definition.required_children.is_empty(),
        !definition.unique_together.is_empty(),
    ];
    out.map(7 + count(&optional))
        .entry(type_key::KIND, code_of(&TypeKind::ALL, definition.kind))
        .entry(type_key::NAME, &*definition.name)
        .entry(type_key::DESCRIPTION, &*definition.description)
        .entry(type_key::CLOSED, definition.is_closed);
    out.put(type_key::SUPERTYPES).list(&definition.supertypes, encode_text);
    out.put(type_key::APPLIES_TO).list(&definition.applies_to, encode_text);
    out.put(type_key::ATTRIBUTES).list(&definition.attributes, encode_attribute);
    out.some(type_key::ENDS, definition.ends.as_ref(), |out, ends| out.list(ends, encode_end));
    encode_flag(out, type_key::PROPAGATABLE, definition.is_propagatable);
    out.some_list(type_key::STATUSES, statuses, encode_text);
    out.some_str(type_key::INITIAL_STATUS, initial_status.as_ref());
    out.some_list(type_key::ELEMENTS, elements, |out, EnumElement { ordinal, name, description }| {
        out.array(3).put(*ordinal).str(name).str(description);
    });
    encode_deprecation(out, type_key::DEPRECATION, deprecation.as_ref());
    out.some_str(type_key::EXTERNAL_ID, external_id.as_ref());
    if definition.version != 1 {
        out.entry(type_key::VERSION, definition.version);
    }
    encode_flag(out, type_key::ADVISORY, definition.is_advisory);
    out.some(type_key::CONTAINMENT, definition.containment, |out, Containment { is_ordered }| {
        out.put(is_ordered);
    });
    out.some_list(type_key::REQUIRED_CHILDREN, &definition.required_children, encode_text);
    out.some_list(type_key::UNIQUE_TOGETHER, &definition.unique_together, |out, names| {
        out.list(names, encode_text);
    });
}

fn encode_attribute(out: &mut Sink, attribute: &AttributeDefinition) {
    let AttributeDefinition { default, enum_type, item_type, deprecation, .. } = attribute;
    let AttributeDefinition { minimum, maximum, pattern, reference, .. } = attribute;
    let optional = [
        default.is_some(),
        enum_type.is_some(),
        item_type.is_some(),
        deprecation.is_some(),
        attribute.is_key,
        minimum.is_some(),
        maximum.is_some(),
        pattern.is_some(),
        reference.is_some(),
    ];
    out.map(6 + count(&optional))
        .entry(attribute_key::NAME, &*attribute.name)
        .entry(attribute_key::VALUE_TYPE, code_of(&ValueType::ALL, attribute.value_type))
        .entry(attribute_key::MANY, attribute.is_many)
        .entry(attribute_key::REQUIRED, attribute.is_required)
        .entry(attribute_key::UNIQUE, attribute.is_unique)
        .entry(attribute_key::UNINDEXED, !attribute.is_indexed);
    for (key, value) in [
        (attribute_key::DEFAULT, default),
        (attribute_key::MINIMUM, minimum),
        (attribute_key::MAXIMUM, maximum),
    ] {
        out.some(key, value.as_ref(), encode_value);
    }
    out.some_str(attribute_key::ENUM, enum_type.as_ref());
    let item_type = item_type.map(|item_type| code_of(&ValueType::ALL, item_type));
    out.some(attribute_key::ITEM_TYPE, item_type, |out, code| _ = out.put(code));
    encode_deprecation(out, attribute_key::DEPRECATION, deprecation.as_ref());
    encode_flag(out, attribute_key::KEY, attribute.is_key);
    out.some_str(attribute_key::PATTERN, pattern.as_ref());
    out.some_str(attribute_key::REFERENCE, reference.as_ref());
}

fn encode_end(out: &mut Sink, end: &EndDefinition) {
    out.map(1 + count(&[end.type_name.is_some(), end.name.is_some()])).entry(end_key::MANY, end.is_many);
    out.some_str(end_key::TYPE, end.type_name.as_ref());
    out.some_str(end_key::NAME, end.name.as_ref());
}

fn count(are_there: &[bool]) -> usize {
    are_there.iter().filter(|is_there| **is_there).count()
}

fn encode_flag(out: &mut Sink, key: u32, is_set: bool) {
    if is_set {
        out.entry(key, true);
    }
}

fn encode_text(out: &mut Sink, text: &Arc<str>) {
    out.str(text);
}

// Shape: an array, empty or with the replacement.
fn encode_deprecation(out: &mut Sink, key: u32, deprecation: Option<&Deprecation>) {
    out.some(key, deprecation, |out, Deprecation { replaced_by }| {
        out.list(replaced_by, encode_text);
    });
}

pub(super) fn decode_type(input: &mut Decoder) -> Read<TypeDefinition> {
    let mut definition = TypeDefinition::entity("");
    for _ in 0..map(input)? {
        match input.u32()? {
            type_key::KIND => {
                definition.kind = variant(&TypeKind::ALL, input.u32()?, "a type is of no known kind")?;
            }
            type_key::NAME => definition.name = input.str()?.into(),
            type_key::DESCRIPTION => definition.description = input.str()?.into(),
            type_key::SUPERTYPES => definition.supertypes = texts(input)?,
            type_key::CLOSED => definition.is_closed = input.bool()?,
            type_key::ATTRIBUTES => {
                definition.attributes = (0..array(input)?).map(|_| attribute(input)).collect::<Read<_>>()?;
            }
            type_key::ENDS => {
                if array(input)? != 2 {
                    return Err(malformed("a relationship type has two ends"));
                }
                definition.ends = Some([end(input)?, end(input)?]);
            }
            type_key::APPLIES_TO => definition.applies_to = texts(input)?,
            type_key::PROPAGATABLE => definition.is_propagatable = input.bool()?,
            type_key::STATUSES => definition.statuses = texts(input)?,
            type_key::INITIAL_STATUS => definition.initial_status = Some(input.str()?.into()),
            type_key::ELEMENTS => {
                definition.elements = (0..array(input)?).map(|_| element(input)).collect::<Read<_>>()?;
            }
            type_key::DEPRECATION => definition.deprecation = Some(deprecation(input)?),
            type_key::EXTERNAL_ID => definition.external_id = Some(input.str()?.into()),
            type_key::VERSION => definition.version = input.u32()?,
            type_key::ADVISORY => definition.is_advisory = input.bool()?,
            type_key::CONTAINMENT => definition.containment = Some(Containment { is_ordered: input.bool()? }),
            type_key::REQUIRED_CHILDREN => definition.required_children = texts(input)?,
            type_key::UNIQUE_TOGETHER => {
                definition.unique_together = (0..array(input)?).map(|_| texts(input)).collect::<Read<_>>()?;
            }
            _ => input.skip()?,
        }
    }
    Ok(definition)
}

fn attribute(input: &mut Decoder) -> Read<AttributeDefinition> {
    let mut attribute = AttributeDefinition::new("", ValueType::Any);
    for _ in 0..map(input)? {
        match input.u32()? {
            attribute_key::NAME => attribute.name = input.str()?.into(),
            attribute_key::VALUE_TYPE => attribute.value_type = value_type(input)?,
            attribute_key::MANY => attribute.is_many = input.bool()?,
            attribute_key::REQUIRED => attribute.is_required = input.bool()?,
            attribute_key::UNIQUE => attribute.is_unique = input.bool()?,
            attribute_key::UNINDEXED => attribute.is_indexed = !input.bool()?,
            attribute_key::DEFAULT => attribute.default = Some(decode_value(input)?),
            attribute_key::ENUM => attribute.enum_type = Some(input.str()?.into()),
            attribute_key::ITEM_TYPE => attribute.item_type = Some(value_type(input)?),
            attribute_key::DEPRECATION => attribute.deprecation = Some(deprecation(input)?),
            attribute_key::KEY => attribute.is_key = input.bool()?,
            attribute_key::MINIMUM => attribute.minimum = Some(decode_value(input)?),
            attribute_key::MAXIMUM => attribute.maximum = Some(decode_value(input)?),
            attribute_key::PATTERN => attribute.pattern = Some(input.str()?.into()),
            attribute_key::REFERENCE => attribute.reference = Some(input.str()?.into()),
            _ => input.skip()?,
        }
    }
    Ok(attribute)
}

fn end(input: &mut Decoder) -> Read<EndDefinition> {
    let mut end = EndDefinition::ANY;
    for _ in 0..map(input)? {
        match input.u32()? {
            end_key::TYPE => end.type_name = Some(input.str()?.into()),
            end_key::MANY => end.is_many = input.bool()?,
            end_key::NAME => end.name = Some(input.str()?.into()),
            _ => input.skip()?,
        }
    }
    Ok(end)
}

fn element(input: &mut Decoder) -> Read<EnumElement> {
    if array(input)? != 3 {
        return Err(malformed("an element of an enum is not [ordinal, name, description]"));
    }
    Ok(EnumElement { ordinal: input.u32()?, name: input.str()?.into(), description: input.str()?.into() })
}

fn deprecation(input: &mut Decoder) -> Read<Deprecation> {
    let mut texts = texts(input)?;
    if texts.len() > 1 {
        return Err(malformed("what is deprecated is replaced by one thing at most"));
    }
    Ok(Deprecation { replaced_by: texts.pop() })
}

fn value_type(input: &mut Decoder) -> Read<ValueType> {
    variant(&ValueType::ALL, input.u32()?, "an attribute has no known value type")
}
