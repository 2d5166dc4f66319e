//! `#[form]`: a type is the form of a JSON value, with its schema.
#![forbid(unsafe_code)]

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Derives reading, writing and the schema of a type, by the rules of `annals_json::wire`:
///
/// - A struct has its members in camel case. A member whose type is written as `Option` may be left out. Other members
///   are refused, unless it is `#[form(open)]`, or `#[form(part)]`, which is flattened into forms.
/// - An enum of words has them in lower case. Any other enum is one of several forms, without a tag.
/// - `#[form(inline)]` and `#[form(part)]` have no name in the document.
#[proc_macro_attribute]
pub fn form(option: TokenStream, item: TokenStream) -> TokenStream {
    let option = option.to_string();
    let name = if ["inline", "part"].contains(&&*option) { "#[schemars(inline)]" } else { "" };
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let is_enum = tokens.iter().any(|token| is_word(token, "enum"));
    let body = tokens.iter_mut().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    });
    let (copy, rules) = match body {
        None => ("", ""),
        Some(body) if is_enum && is_of_words(body) => ("Copy,", "rename_all = \"lowercase\""),
        Some(_) if is_enum => ("", "untagged"),
        Some(body) => {
            *body = Group::new(Delimiter::Brace, with_optional_members(body.stream()));
            ("", if ["open", "part"].contains(&&*option) { CAMEL_CASE } else { CAMEL_CASE_ONLY })
        }
    };
    let derives = "::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema";
    let mut form = parsed(&format!("#[derive(Clone, Debug, {copy} {derives})] #[serde({rules})] {name}"));
    form.extend(tokens);
    form
}

const CAMEL_CASE: &str = "rename_all = \"camelCase\"";
const CAMEL_CASE_ONLY: &str = "rename_all = \"camelCase\", deny_unknown_fields";
const OPTIONAL: &str = "#[serde(skip_serializing_if = \"Option::is_none\")]";

fn with_optional_members(body: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut members = TokenStream::new();
    for (at, token) in tokens.iter().enumerate() {
        // A member: `pub name: Option<…>`.
        if is_word(token, "pub") && tokens.get(at + 3).is_some_and(|kind| is_word(kind, "Option")) {
            members.extend(parsed(OPTIONAL));
        }
        members.extend([token.clone()]);
    }
    members
}

fn is_of_words(body: &Group) -> bool {
    let is_content =
        |token| matches!(token, TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket);
    !body.stream().into_iter().any(is_content)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(name) if name.to_string() == word)
}

fn parsed(text: &str) -> TokenStream {
    text.parse().expect("it is Rust")
}
