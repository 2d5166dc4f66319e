//! Graph queries from the first entities of each type; now, and as of the time before updates.

use annals::{Find, Id, Instant, TypeKind};

use crate::methods::call::{Answer, Call};
use crate::methods::record::Part;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

/// More steps than between any two entities of a volume.
const ALL_STEPS: usize = 1_000_000;
/// Steps of the neighbourhoods.
const LEVELS: [usize; 3] = [1, 2, 3];

/// The rows for the samples.
struct Rows {
    look_up: Method,
    relationships: Method,
    neighborhood: Method,
    related: Method,
    linking: Method,
}

/// All four rows; as of `then` if it is given.
pub fn queries(run: &mut Run, then: Option<Instant>) -> Outcome<()> {
    let rows = if then.is_none() {
        Rows {
            look_up: Method::FindEntities,
            relationships: Method::RelationshipsOf,
            neighborhood: Method::Neighborhood,
            related: Method::Related,
            linking: Method::Linking,
        }
    } else {
        Rows {
            look_up: Method::FindEntitiesThen,
            relationships: Method::RelationshipsOfThen,
            neighborhood: Method::NeighborhoodThen,
            related: Method::RelatedThen,
            linking: Method::LinkingThen,
        }
    };
    let archive = run.archive;
    let count = archive.entities.len() * run.volume.instances;
    let every = count.div_ceil(run.target.starts_max()).max(1);
    let mut number = 0;
    for one in &archive.entities {
        for start in run.look_up(rows.look_up, TypeKind::Entity, Find::of(&one.name), then)? {
            if number % every == 0 {
                run.around(&rows, start, then)?;
            }
            number += 1;
        }
    }
    Ok(())
}

impl Run<'_> {
    fn around(&mut self, rows: &Rows, start: Id, then: Option<Instant>) -> Outcome<()> {
        let page = self.volume.page;
        let call = Call::RelationshipsOf(start.clone(), page);
        let has_some = |answer: &Answer| (answer.elements > 0).then_some(Part::Whole);
        let found = self.ask_if(rows.relationships, call, then, has_some)??;
        let mut levels = Vec::new();
        for level in LEVELS {
            let call = Call::Neighborhood(start.clone(), level);
            levels.push(self.ask_if(rows.neighborhood, call, then, |_| Some(Part::Whole))??);
        }
        self.check_levels(&start, &found, &levels, page)?;
        // The elements that the walk of related entities visits; not measured.
        let all = self.target.call(Call::Neighborhood(start.clone(), ALL_STEPS), then)?.answer?;
        let call = Call::Related(start.clone(), page);
        let related = self.ask_if(rows.related, call, then, |_| Some(Part::Whole))??;
        if let Some(last) = self.record.of_mut(rows.related).all.last_mut() {
            last.elements = u32::try_from(all.elements)?;
        }
        let expected = page.min(all.ids.len() - 1);
        if related.ids.len() != expected || !related.ids.iter().all(|id| all.ids.contains(id)) {
            let text =
                format!("related to {start}: wrong answer: expected {expected}, found {:?}", related.ids);
            return Err(text.into());
        }
        let mut targets = related.ids;
        if targets.len() > 2 {
            targets = vec![
                targets[0].clone(),
                targets[targets.len() / 2].clone(),
                targets[targets.len() - 1].clone(),
            ];
        }
        for target in targets {
            let call = Call::Linking(start.clone(), target.clone());
            let linking = self.ask_if(rows.linking, call, then, |_| Some(Part::Whole))??;
            if !linking.ids.contains(&start) || !linking.ids.contains(&target) {
                return Err(format!("linking {start} and {target}: wrong answer: it lacks an end").into());
            }
        }
        Ok(())
    }

    /// Every level contains the one before; the first consists of the direct neighbours.
    fn check_levels(
        &self,
        start: &Id,
        relationships: &Answer,
        levels: &[Answer],
        page: usize,
    ) -> Outcome<()> {
        let first = &levels[0];
        // The relationships of the first level are those of the entity.
        let expected = (first.elements - first.ids.len()).min(page);
        let grows = levels.windows(2).all(|pair| pair[0].ids.iter().all(|id| pair[1].ids.contains(id)));
        if relationships.elements == expected && grows && first.ids.contains(start) {
            return Ok(());
        }
        Err(format!("around {start}: wrong answer: {} relationships, and {levels:?}", relationships.elements)
            .into())
    }
}
