//! Finds the known name that a user probably meant.

/// Longer names are not compared. Units: characters.
const LENGTH_MAX: usize = 64;
/// With more names, none is compared.
const NAMES_MAX: usize = 10_000;

/// The advice for an unknown name: `; did you mean NAME?` if one of `known` is near, otherwise `; ` and `otherwise`.
pub(super) fn hint<'n>(name: &str, known: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    match nearest(name, known) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => format!("; {otherwise}"),
    }
}

/// The known name that a user probably meant: the one with the fewest mistakes compared with `name`, the first of equals.
/// `None` if all have more than one mistake in three characters. Upper and lower case are equal.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let letters =
        |name: &str| name.chars().flat_map(char::to_lowercase).take(LENGTH_MAX + 1).collect::<Vec<_>>();
    let asked = letters(name);
    let mistakes_max = (asked.len() / 3).max(1);
    if asked.len() > LENGTH_MAX {
        return None;
    }
    let near = known.take(NAMES_MAX).filter_map(|known| {
        let letters = letters(known);
        if letters.len().abs_diff(asked.len()) > mistakes_max {
            return None;
        }
        let mistakes = mistakes_between(&asked, &letters);
        (mistakes <= mistakes_max && known != name).then_some((mistakes, known))
    });
    near.min_by_key(|(mistakes, _)| *mistakes).map(|(_, known)| known)
}

/// The number of letters to insert, delete, replace, or swap with the next one.
///
/// Source: optimal string alignment, <https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance>.
fn mistakes_between(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for at in 0..one.len() {
        let mut next = vec![at + 1];
        for to in 0..other.len() {
            let replaced = row[to] + usize::from(one[at] != other[to]);
            let mut mistakes = replaced.min(row[to + 1] + 1).min(next[to] + 1);
            if at > 0 && to > 0 && one[at] == other[to - 1] && one[at - 1] == other[to] {
                mistakes = mistakes.min(before[to - 1] + 1);
            }
            next.push(mistakes);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_has_few_mistakes() {
        let known = ["name", "owner", "installed_size", "size"];
        for (asked, meant) in [
            ("nme", Some("name")),
            ("naem", Some("name")),
            ("Name", Some("name")),
            ("onwer", Some("owner")),
            ("instaled_siez", Some("installed_size")),
            ("sise", Some("size")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(asked, known.into_iter()), meant, "{asked}");
        }
        assert_eq!(nearest(&"n".repeat(LENGTH_MAX + 1), ["n"].into_iter()), None);
    }

    #[test]
    fn a_swap_counts_once() {
        let mistakes = |one: &str, other: &str| {
            mistakes_between(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
        };
        assert_eq!([mistakes("ab", "ba"), mistakes("abc", "cba"), mistakes("", "abc")], [1, 2, 3]);
    }
}
