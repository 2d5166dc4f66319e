//! Classifications of every type: attach, find, change and remove.

use std::sync::Arc;

use annals::{ClassificationContent, Expression, Find, Header, Id, Order, TypeKind, Value};

use crate::methods::archive::ClassificationType;
use crate::methods::call::Call;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::methods::values::Properties;
use crate::outcome::Outcome;

use super::search::Match;

/// Attaches each classification to the first entities of the last type that it fits.
pub fn attach(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.classifications {
        let find = Find::of(&archive.entities[one.entity_type].name);
        for (number, id) in
            run.look_up(Method::FindEntities, TypeKind::Entity, find, None)?.into_iter().enumerate()
        {
            let content = ClassificationContent {
                properties: run.values.all(&one.attributes, number),
                ..ClassificationContent::new(&one.name)
            };
            let properties = content.properties.clone();
            let answer = run.ask(Method::Classify, Call::Classify(id.clone(), content))?;
            let answer = answer.ok_or_else(|| format!("classify {id} as {}: it was refused", one.name))?;
            run.mark = answer.instant.or(run.mark);
            run.classified(&id, &one.name, properties)?;
        }
    }
    Ok(())
}

/// Finds the entities with each classification: all, and by its properties.
pub fn find(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.classifications {
        let searches = classification_searches(run, one);
        for (matching, header, order, holds) in searches {
            let name = Arc::clone(&one.name);
            let expression =
                Expression::Classified { name: Arc::clone(&name), matching: matching.map(Box::new) };
            let find = Find::all().filter(expression).order_by_header(header, order).limit(run.volume.page);
            run.first_page(Method::FindByClassification, TypeKind::Entity, find, None, |run| {
                let book = run.book.as_ref()?;
                let carries = |kept: &&crate::methods::book::Kept| {
                    kept.classifications
                        .iter()
                        .any(|(carried, properties)| *carried == name && holds(properties))
                };
                Some(book.entities.iter().filter(carries).map(|kept| kept.id.clone()).collect())
            })?;
        }
    }
    Ok(())
}

/// The condition on the properties of a classification, the order, and whether they fulfil it.
type Search = (Option<Expression>, Header, Order, Box<dyn Fn(&Properties) -> bool>);

fn classification_searches(run: &mut Run, one: &ClassificationType) -> Vec<Search> {
    let mut searches: Vec<Search> =
        vec![(None, Header::CreatedAt, Order::Descending, Box::new(|_: &Properties| true))];
    for search in run.property_searches_in_order(&one.attributes) {
        let (header, order) = match (search.matching, search.conditions.len()) {
            (Match::All, 1) => (Header::CreatedAt, Order::Ascending),
            (Match::All, _) => (Header::UpdatedAt, Order::Descending),
            (Match::Any, _) => (Header::UpdatedAt, Order::Ascending),
            (Match::None, _) => (Header::Id, Order::Ascending),
        };
        let filter = search.filter();
        let holds =
            move |properties: &Properties| search.holds(|name| crate::methods::book::value(properties, name));
        searches.push((Some(filter), header, order, Box::new(holds)));
    }
    searches
}

/// Replaces the properties of each classification.
pub fn update(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.classifications {
        let find = Find::all().filter(run.classification_of(&one.name, None));
        let found = run.look_up(Method::FindByClassification, TypeKind::Entity, find, None)?;
        for (number, id) in found.into_iter().enumerate() {
            let properties = run.values.all(&one.attributes, number);
            let call = Call::Reclassify(id, Arc::clone(&one.name), properties);
            run.ask(Method::UpdateClassification, call)?;
        }
    }
    Ok(())
}

/// Removes each classification from its entities.
pub fn detach(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.classifications {
        let find = Find::all().filter(run.classification_of(&one.name, None));
        for id in run.look_up(Method::FindByClassification, TypeKind::Entity, find, None)? {
            run.ask(Method::Declassify, Call::Declassify(id.clone(), Arc::clone(&one.name)))?;
            run.check_classified(&id, &one.name, false)?;
        }
    }
    Ok(())
}

impl Run<'_> {
    /// Checks that an entity has a classification, and notes it.
    pub fn classified(
        &mut self,
        id: &Id,
        name: &Arc<str>,
        properties: Vec<(Arc<str>, Value)>,
    ) -> Outcome<()> {
        self.check_classified(id, name, true)?;
        if let Some(book) = &mut self.book
            && let Some(kept) = book.entities.iter_mut().find(|kept| kept.id == *id)
        {
            // A copy replaces one that was attached here.
            kept.classifications.retain(|(carried, _)| carried != name);
            kept.classifications.push((Arc::clone(name), properties));
        }
        Ok(())
    }
}
