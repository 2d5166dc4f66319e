//! The trigrams that a text must have to match a pattern.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::search::Pattern;
use crate::structures::key_set::{Needed, fold, gram};

/// Most trigrams to check: more of them would not skip more.
const GRAMS_MAX: usize = 64;

/// The trigrams that every matching text has.
pub(super) fn needed(pattern: &Pattern) -> Needed {
    match pattern {
        Pattern::Equal(text) | Pattern::Prefix(text) | Pattern::Suffix(text) | Pattern::Contains(text) => {
            of_run(&text.chars().collect::<Vec<_>>())
        }
        Pattern::OneLine(pattern) => needed(pattern),
        Pattern::Matches(regex) => regex_syntax::parse(regex.as_str())
            .map_or(Needed::Unknown, |hir| of_parts(std::slice::from_ref(&hir))),
    }
}

fn of_run(run: &[char]) -> Needed {
    let grams = run.windows(3).take(GRAMS_MAX);
    all(grams.map(|three| Needed::Gram(gram([three[0], three[1], three[2]]))).collect())
}

fn all(mut parts: Vec<Needed>) -> Needed {
    parts.retain(|part| *part != Needed::Unknown);
    match parts.len() {
        0 => Needed::Unknown,
        1 => parts.remove(0),
        _ => Needed::All(parts),
    }
}

/// Trigrams of consecutive parts: adjacent characters form trigrams across the parts.
fn of_parts(parts: &[Hir]) -> Needed {
    let mut needed = Vec::new();
    let mut run = Vec::new();
    add_parts(parts, &mut run, &mut needed);
    needed.push(of_run(&run));
    all(needed)
}

fn add_parts(parts: &[Hir], run: &mut Vec<char>, needed: &mut Vec<Needed>) {
    for part in parts {
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => run.extend(text.chars()),
                Err(_) => needed.push(of_run(&std::mem::take(run))),
            },
            HirKind::Capture(capture) => add_parts(std::slice::from_ref(&capture.sub), run, needed),
            HirKind::Concat(parts) => add_parts(parts, run, needed),
            HirKind::Class(class) => match one_folded(class) {
                Some(character) => run.push(character),
                None => needed.push(of_run(&std::mem::take(run))),
            },
            HirKind::Repetition(repetition) => {
                needed.push(of_run(&std::mem::take(run)));
                if repetition.min > 0 {
                    needed.push(of_parts(std::slice::from_ref(&repetition.sub)));
                }
            }
            HirKind::Alternation(ways) => {
                needed.push(of_run(&std::mem::take(run)));
                let ways: Vec<Needed> = ways.iter().map(|way| of_parts(std::slice::from_ref(way))).collect();
                if !ways.contains(&Needed::Unknown) {
                    needed.push(Needed::Any(ways));
                }
            }
        }
    }
}

/// The common folded character of a class, such as the two cases of a letter.
fn one_folded(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let mut characters = class.iter().flat_map(|range| range.start()..=range.end());
    let first = fold(characters.next()?);
    // A letter has few forms.
    let is_one = class.iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum::<usize>() <= 4
        && characters.all(|character| fold(character) == first);
    is_one.then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Condition, Field, Operator};

    fn of(operator: Operator, text: &str, ignores_case: bool) -> Needed {
        let condition = Condition { ignores_case, ..Condition::new(Field::AnyText, operator, text) };
        needed(&Pattern::of(&condition).unwrap().unwrap())
    }

    #[test]
    fn patterns_need_the_trigrams_of_what_cannot_be_left_out() {
        let abcd = of(Operator::Contains, "abcd", false);
        assert!(matches!(&abcd, Needed::All(grams) if grams.len() == 2));
        for (regex, ignores_case) in
            [(".*abcd.*", false), ("x?abcd", false), ("(abcd)+", false), ("ABCD", true), ("abc(d)", false)]
        {
            assert_eq!(of(Operator::Matches, regex, ignores_case), abcd, "{regex}");
        }
        assert_eq!(of(Operator::Contains, "ABCD", true), abcd);
        for regex in [".*", "ab", "a.b.c", "(abcd)?", "abcd|x", "[abc][bcd][cde]"] {
            assert_eq!(of(Operator::Matches, regex, false), Needed::Unknown, "{regex}");
        }
        assert!(matches!(of(Operator::Matches, "abc|bcd", false), Needed::Any(ways) if ways.len() == 2));
        assert_eq!(of(Operator::Contains, "kKs", true), of(Operator::Contains, "\u{212A}kſ", false));
    }
}
