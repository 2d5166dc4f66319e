//! A finding of the doctor about one thing, with its remedy.

/// How well a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It is as it should be, or it cannot be looked at here.
    Ok,
    /// A server works, and something may surprise its operator.
    Warning,
    /// A server does not start, or does not do what it is set to do.
    Wrong,
}

impl Level {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Wrong => "wrong",
        }
    }
}

/// A statement about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The thing, such as `clock`.
    pub about: &'static str,
    /// How well it is.
    pub level: Level,
    /// The state that was found, and the one that was expected if that is another one.
    pub text: String,
    /// The step that helps. Empty if none is needed.
    pub remedy: String,
}

/// All that was found out, in the order of the checks.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// A thing is as it should be.
    pub fn ok(&mut self, about: &'static str, text: impl Into<String>) {
        self.add(about, Level::Ok, text, "");
    }

    /// A thing may surprise.
    pub fn warning(&mut self, about: &'static str, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(about, Level::Warning, text, remedy);
    }

    /// A thing is wrong.
    pub fn wrong(&mut self, about: &'static str, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(about, Level::Wrong, text, remedy);
    }

    /// How many are of a level.
    pub fn count(&self, level: Level) -> usize {
        self.0.iter().filter(|finding| finding.level == level).count()
    }

    fn add(&mut self, about: &'static str, level: Level, text: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding { about, level, text: text.into(), remedy: remedy.into() });
    }

    /// True if nothing more than a note was made about a thing.
    pub fn is_well(&self, about: &str) -> bool {
        self.0.iter().all(|finding| finding.about != about || finding.level == Level::Ok)
    }
}
