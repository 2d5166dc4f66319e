//! Checks the answers of a target before anything is timed.

use super::content::{Content, List, Order, leaf};
use super::target::{Answer, Call, Keys, Store, Target, middle};
use crate::outcome::Outcome;
use crate::run::WRONG_ANSWER;

/// Subscribers of the check.
const SUBSCRIBERS: usize = 2;

/// Makes the calls of all rows, with the cache and without it, and compares the answers with the expected ones.
///
/// Errors: the first wrong answer, with its call.
pub fn check(target: &mut dyn Target, count: u32) -> Outcome<()> {
    for is_cached in [false, true] {
        let mut check = Check { target: &mut *target, count };
        check.target.begin(count, is_cached)?;
        let told = |error| format!("check at {count} items, cached: {is_cached}: {error}");
        check.running().map_err(told)?;
    }
    target.begin(count, false)?;
    let mut check = Check { target, count };
    check.operational().map_err(|error| format!("check at {count} items: {error}").into())
}

struct Check<'t> {
    target: &'t mut dyn Target,
    count: u32,
}

impl Check<'_> {
    /// The calls of the running store.
    fn running(&mut self) -> Outcome<()> {
        let keyed = Content::of(List::Keyed, Order::Up, self.count);
        let own = leaf(middle(self.count));
        self.whole(Store::Running, None)?;
        self.changes(Call::Merge(List::Keyed), true)?;
        self.whole(Store::Running, Some(&keyed))?;
        self.leaf(Some(&own))?;
        self.changes(Call::Merge(List::Keyed), false)?;
        self.leaf_changes(Store::Running, &keyed)?;
        self.refuses(Call::CreateLeaf("l1"))?;
        self.removals(Store::Running)?;
        // The list must come in the order of its keys, although they are set in another order.
        self.changes(Call::SetAll(Store::Running, List::Keyed, Order::Down), true)?;
        self.whole(Store::Running, Some(&keyed))?;
        self.changes(Call::RemoveContainer, true)?;
        self.whole(Store::Running, None)?;
        self.leaf(None)?;
        self.changes(Call::RemoveContainer, false)?;
        for order in [Order::Down, Order::Up] {
            self.changes(Call::SetAll(Store::Running, List::Ordered, order), true)?;
            self.whole(Store::Running, Some(&Content::of(List::Ordered, order, self.count)))?;
            self.changes(Call::RemoveEntries(Store::Running, List::Ordered), true)?;
            self.whole(Store::Running, Some(&Content::default()))?;
        }
        self.changes(Call::Merge(List::Ordered), true)?;
        self.whole(Store::Running, Some(&Content::of(List::Ordered, Order::Up, self.count)))
    }

    /// The calls of the operational store and of subscribers, if the target has them.
    fn operational(&mut self) -> Outcome<()> {
        let keyed = Content::of(List::Keyed, Order::Up, self.count);
        let set_all = Call::SetAll(Store::Operational, List::Keyed, Order::Up);
        if self.target.lacks(set_all).is_none() {
            self.changes(set_all, true)?;
            self.whole(Store::Operational, Some(&keyed))?;
            self.leaf_changes(Store::Operational, &keyed)?;
            self.removals(Store::Operational)?;
        }
        if [set_all, Call::Subscribe(SUBSCRIBERS)].iter().all(|call| self.target.lacks(*call).is_none()) {
            self.target.begin(self.count, false)?;
            self.target.call(Call::Subscribe(SUBSCRIBERS))?;
            for call in [set_all, Call::RemoveEntries(Store::Operational, List::Keyed)] {
                self.changes(call, true)?;
                self.target.call(Call::Hear)?;
            }
            self.hears(2 * self.count as usize)?;
        }
        if self.target.lacks(Call::Provide).is_none() {
            self.target.begin(self.count, false)?;
            self.target.call(Call::Provide)?;
            self.whole(Store::Operational, Some(&keyed))?;
        }
        Ok(())
    }

    /// Sets, removes and creates the leaf, and compares all entries each time.
    fn leaf_changes(&mut self, store: Store, keyed: &Content) -> Outcome<()> {
        let mut expected = keyed.clone();
        let place = middle(self.count) as usize;
        let steps = [
            (Call::SetLeaf(store, "changed"), Some("changed")),
            (Call::RemoveLeaf(store), None),
            // The rows create leaves of the running store only.
            (
                if store == Store::Running { Call::CreateLeaf("l0") } else { Call::SetLeaf(store, "l0") },
                Some("l0"),
            ),
        ];
        for (call, value) in steps {
            self.changes(call, true)?;
            expected.lst[place].l = value.map(str::to_owned);
            self.whole(store, Some(&expected))?;
            if store == Store::Running {
                self.leaf(value)?;
            }
            if !matches!(call, Call::CreateLeaf(_)) {
                self.changes(call, false)?;
            }
        }
        Ok(())
    }

    /// Removes all entries, twice: the second time nothing changes.
    fn removals(&mut self, store: Store) -> Outcome<()> {
        let call = Call::RemoveEntries(store, List::Keyed);
        self.changes(call, true)?;
        self.whole(store, Some(&Content::default()))?;
        self.changes(call, false)
    }

    fn changes(&mut self, call: Call, expected: bool) -> Outcome<()> {
        match self.target.call(call)? {
            Answer::Done => Ok(()),
            Answer::Changed(found) if found == expected => Ok(()),
            Answer::Changed(found) => {
                Err(format!("{call:?}: {WRONG_ANSWER}: expected changes: {expected}, found: {found}").into())
            }
            other => Err(other.unexpected(call)),
        }
    }

    fn refuses(&mut self, call: Call) -> Outcome<()> {
        match self.target.call(call)? {
            Answer::Refused(_) => Ok(()),
            other => Err(other.unexpected(call)),
        }
    }

    /// Reads the leaf by every path of the rows.
    fn leaf(&mut self, expected: Option<&str>) -> Outcome<()> {
        for keys in [Keys::Joined, Keys::Apart] {
            for call in [Call::Find(keys), Call::Get(keys)] {
                self.target.call(call)?.expect_leaf(call, expected)?;
            }
        }
        Ok(())
    }

    fn whole(&mut self, store: Store, expected: Option<&Content>) -> Outcome<()> {
        let call = Call::All(store);
        let answer = self.target.call(call)?;
        let Answer::Whole(found) = answer else { return Err(answer.unexpected(call)) };
        match (found, expected) {
            (None, None) => Ok(()),
            (Some(found), Some(expected)) => match found.content()?.difference(expected) {
                None => Ok(()),
                Some(difference) => Err(format!("{call:?}: {WRONG_ANSWER}: {difference}").into()),
            },
            (Some(_), None) => {
                Err(format!("{call:?}: {WRONG_ANSWER}: expected no container, found one").into())
            }
            (None, Some(_)) => {
                Err(format!("{call:?}: {WRONG_ANSWER}: expected a container, found none").into())
            }
        }
    }

    fn hears(&mut self, changes: usize) -> Outcome<()> {
        match self.target.call(Call::Unsubscribe)? {
            Answer::Heard(counts) if counts == [changes; SUBSCRIBERS] => Ok(()),
            other => {
                let error = other.unexpected(Call::Unsubscribe);
                Err(format!(
                    "{WRONG_ANSWER}: expected {SUBSCRIBERS} subscribers to hear of {changes} changes: {error}"
                )
                .into())
            }
        }
    }
}

impl Answer {
    /// Errors: if it is another leaf, or no leaf.
    pub fn expect_leaf(&self, call: Call, expected: Option<&str>) -> Outcome<()> {
        match self {
            Answer::Leaf(found) if found.as_deref() == expected => Ok(()),
            Answer::Leaf(found) => {
                Err(format!("{call:?}: {WRONG_ANSWER}: expected the leaf {expected:?}, found {found:?}")
                    .into())
            }
            other => Err(other.unexpected(call)),
        }
    }

    /// The error for an answer that the call cannot have.
    pub fn unexpected(&self, call: Call) -> Box<dyn std::error::Error> {
        let found = match self {
            Answer::Changed(is_changed) => format!("changes: {is_changed}"),
            Answer::Done => "done".into(),
            Answer::Refused(why) => format!("a refusal: {why}"),
            Answer::Leaf(found) => format!("the leaf {found:?}"),
            Answer::Whole(found) => format!("a container: {}", found.is_some()),
            Answer::Heard(counts) => format!("heard changes: {counts:?}"),
        };
        format!("{call:?}: unexpected answer: {found}").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datastore::embedded::Embedded;
    use crate::datastore::file::JsonFile;

    /// A target with one wrong leaf.
    struct Wrong<T>(T);

    impl<T: Target> Target for Wrong<T> {
        fn lacks(&self, call: Call) -> Option<&'static str> {
            self.0.lacks(call)
        }

        fn begin(&mut self, count: u32, is_cached: bool) -> Outcome<()> {
            self.0.begin(count, is_cached)
        }

        fn call(&mut self, call: Call) -> Outcome<Answer> {
            match self.0.call(call)? {
                Answer::Leaf(Some(_)) if call == Call::Get(Keys::Apart) => {
                    Ok(Answer::Leaf(Some("l9".into())))
                }
                right => Ok(right),
            }
        }
    }

    #[test]
    fn right_answers_pass_and_a_wrong_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = JsonFile::new(folder.path()).unwrap();
        check(&mut file, 12).unwrap();
        check(&mut Embedded::new(folder.path().into()), 12).unwrap();
        let error = check(&mut Wrong(file), 12).unwrap_err().to_string();
        let expected = r#"check at 12 items, cached: false: Get(Apart): wrong answer: expected the leaf Some("l6"), found Some("l9")"#;
        assert_eq!(error, expected);
    }
}
