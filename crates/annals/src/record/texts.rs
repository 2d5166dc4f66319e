//! A list of texts.

use std::sync::Arc;

use minicbor::Decoder;

use super::value::{Read, array};

pub(crate) fn texts(input: &mut Decoder) -> Read<Vec<Arc<str>>> {
    (0..array(input)?).map(|_| input.str().map(Into::into)).collect()
}
