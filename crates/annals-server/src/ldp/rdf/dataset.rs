//! The triples of a resource as the evaluator of updates reads them, within a budget.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use oxrdf::{Term, TermRef, Triple};
use spareval::{InternalQuad, QueryableDataset};

use super::RdfError;
use super::budget::Budget;

/// The cells of a row with the terms of a triple.
const TRIPLE_CELLS: usize = 3;

/// Shape: `index` has the triples that a pattern may match.
pub(super) struct Dataset {
    budget: Arc<Budget>,
    index: Rc<Index>,
}

#[derive(Default)]
struct Index {
    triples: Vec<[Rc<Term>; 3]>,
    /// For each place the triples that have a term there, as indexes.
    places: [HashMap<Rc<Term>, Rc<Vec<usize>>>; 3],
}

impl Dataset {
    /// Keeps of `graph` what one of the patterns may match. Shape: `constants` has the constant terms of each pattern.
    ///
    /// Errors: those of the budget.
    pub(super) fn read<'g>(
        graph: impl Iterator<Item = &'g Triple>,
        constants: &[[Option<Term>; 3]],
        budget: &Arc<Budget>,
    ) -> Result<Dataset, RdfError> {
        let mut index = Index::default();
        let mut seen = HashSet::new();
        let mut known: HashMap<TermRef<'g>, Rc<Term>> = HashMap::new();
        for triple in graph {
            budget.step()?;
            let terms: [TermRef<'g>; 3] =
                [triple.subject.as_ref().into(), triple.predicate.as_ref().into(), triple.object.as_ref()];
            let may_match = |pattern: &[Option<Term>; 3]| {
                pattern
                    .iter()
                    .zip(terms)
                    .all(|(constant, term)| constant.as_ref().is_none_or(|it| it.as_ref() == term))
            };
            if !constants.iter().any(may_match) || !seen.insert(triple) {
                continue;
            }
            let terms =
                terms.map(|term| Rc::clone(known.entry(term).or_insert_with(|| Rc::new(term.into_owned()))));
            for (place, term) in index.places.iter_mut().zip(&terms) {
                let list = place.entry(Rc::clone(term)).or_default();
                Rc::get_mut(list).expect("nobody reads yet").push(index.triples.len());
            }
            index.triples.push(terms);
        }
        Ok(Dataset { budget: Arc::clone(budget), index: Rc::new(index) })
    }
}

impl QueryableDataset<'static> for Dataset {
    type InternalTerm = Rc<Term>;
    type Error = RdfError;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&Rc<Term>>,
        predicate: Option<&Rc<Term>>,
        object: Option<&Rc<Term>>,
        // A resource is one graph: an update that names another is refused before.
        _: Option<Option<&Rc<Term>>>,
    ) -> impl Iterator<Item = Result<InternalQuad<Rc<Term>>, RdfError>> + use<> {
        let (budget, index) = (Arc::clone(&self.budget), Rc::clone(&self.index));
        let wanted = [subject.cloned(), predicate.cloned(), object.cloned()];
        let lists = index.places.iter().zip(&wanted).filter_map(|(place, term)| {
            term.as_ref().map(|term| place.get(term).map(Rc::clone).unwrap_or_default())
        });
        let shortest: Option<Rc<Vec<usize>>> = lists.min_by_key(|list| list.len());
        let mut next = 0;
        let mut is_over = false;
        std::iter::from_fn(move || {
            while !is_over {
                let at = shortest.as_ref().map_or(Some(next), |list| list.get(next).copied())?;
                let triple = index.triples.get(at)?;
                next += 1;
                let is_match = wanted
                    .iter()
                    .zip(triple)
                    .all(|(wanted, term)| wanted.as_ref().is_none_or(|it| it == term));
                let outcome = if is_match { budget.row(TRIPLE_CELLS) } else { budget.step() };
                if let Err(error) = outcome {
                    is_over = true;
                    return Some(Err(error));
                }
                if is_match {
                    let [subject, predicate, object] = triple.clone();
                    return Some(Ok(InternalQuad { subject, predicate, object, graph_name: None }));
                }
            }
            None
        })
    }

    fn internalize_term(&self, term: Term) -> Result<Rc<Term>, RdfError> {
        self.budget.step()?;
        Ok(Rc::new(term))
    }

    fn externalize_term(&self, term: Rc<Term>) -> Result<Term, RdfError> {
        self.budget.copy(&term)?;
        Ok(Term::clone(&term))
    }
}
