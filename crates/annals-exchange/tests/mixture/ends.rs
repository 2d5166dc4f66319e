//! The end of a record: values that must be unique, and the rules of trees.

use annals::ErrorKind;

use crate::model::{Content, Model, Version};

impl Model {
    /// Fails if a record cannot end so.
    pub fn check_end(&self, position: u64) -> Result<(), ErrorKind> {
        self.check_unique(position)?;
        self.broken().first().map_or(Ok(()), |(_, kind)| Err(*kind))
    }

    /// Fails if an instance got, in this record, a value that another one has at its end. Copies have the state of their
    /// home, so they are not checked, but they hold their values.
    pub fn check_unique(&self, position: u64) -> Result<(), ErrorKind> {
        if self.is_pushed {
            return Ok(());
        }
        let code_of = |content: &Content| {
            content.fields.code.filter(|_| content.is_live && content.type_name == "node")
        };
        for (age, known) in &self.all {
            let Some(code) = code_of(known.now()).filter(|_| !known.is_copy) else { continue };
            let before = known.versions.iter().rev().skip(1);
            let mut steps = known.versions.iter().rev().zip(before.map(Some).chain([None]));
            let gets = |version: &Version, before: Option<&Version>| {
                let held = before.and_then(|before| code_of(&before.content));
                code_of(&version.content) == Some(code) && held != Some(code)
            };
            let is_given =
                steps.any(|(version, before)| version.place.0 == position && gets(version, before));
            let is_adopted = known.adopted_at == Some(position);
            let mut others = self.all.iter().filter(|(other, _)| *other != age);
            let is_held = others.any(|(_, other)| code_of(other.now()) == Some(code));
            if (is_given || is_adopted) && is_held {
                return Err(ErrorKind::NotUnique);
            }
        }
        Ok(())
    }
}
