//! Whether a resource can get a child.

use http::header::{ALLOW, HeaderValue};

use super::headers;
use crate::ldp::mapping::constraints::Refusal;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::view::View;
use crate::protocol::problem::Problem;

/// Checks that a resource can get a child.
///
/// Errors: `not-found`; `deleted`; `method-not-allowed`; `precondition-failed`.
pub fn check_container(
    view: View<'_>,
    container: &Path,
    conditions: &ResourceConditions,
) -> Result<(), Problem> {
    let (entity, model) = view.live(container)?;
    if !model.is_container() {
        let text = format!("{}: expected a container, found {}", view.base.iri(container), model.type_name());
        let allowed = HeaderValue::from_static(headers::allow(model, false));
        return Err(Problem::door("method-not-allowed", text).header(ALLOW, allowed));
    }
    conditions.check_with(|| resource_tag::tag_of(view, &entity))
}

/// The refusal of a resource below one that is no container.
pub fn no_container(view: View<'_>, parent: &Path, model: Model) -> Problem {
    let reason = format!("expected a container, found an {}; choose an address elsewhere", model.type_name());
    Refusal::new(view.base.iri(parent), reason).into_problem()
}
