//! DELETE of resources and of tombstones.

use http::StatusCode;
use http::header::{ALLOW, HeaderValue};

use super::answers::empty;
use super::headers;
use super::request::Request;
use crate::answer::with_position;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::writer::Writer;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Weight;

/// Answers DELETE of a resource.
pub async fn answer(request: Request, path: Path) -> Outcome {
    if path.is_root() {
        let allowed = HeaderValue::from_static(headers::allow(Model::Basic, true));
        let problem = Problem::door("method-not-allowed", "the root container cannot be deleted");
        return Err(problem.header(ALLOW, allowed));
    }
    let conditions = ResourceConditions::of(&request.call.headers);
    let work = move |writer: &mut Writer<'_>| {
        let view = writer.view();
        let (entity, _) = view.live(&path)?;
        conditions.check_with(|| resource_tag::state_tag(view, &entity))?;
        writer.delete(&entity)
    };
    let ((), receipt) = request.commit(Weight::Heavy, work).await?;
    Ok(with_position(empty(StatusCode::NO_CONTENT), receipt.position))
}

/// Answers DELETE of a tombstone: the address is free again.
pub async fn bury(request: Request, path: Path) -> Outcome {
    let ((), receipt) =
        request.commit(Weight::Heavy, move |writer: &mut Writer<'_>| writer.bury(&path)).await?;
    Ok(with_position(empty(StatusCode::NO_CONTENT), receipt.position))
}
