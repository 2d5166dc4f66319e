//! Orders: byte strings with room for another one between any two of them, so that an insertion moves nothing else.
//!
//! Shape of an order: digits of four bytes, big endian, none of them zero and the last at least two; compared digit by
//! digit, and a prefix of another order is less.

/// The first order of an empty list: it has room on both sides.
const MIDDLE: u32 = 1 << 31;
/// Least value of the last digit, so that there is room before every order.
const LAST_MIN: u32 = 2;

/// An order between two others, or before or after one. It is at most `step` from the one before, so that repeated
/// insertions at one place use the room evenly: an order grows by a digit only after as many insertions as a digit has
/// steps.
///
/// Shape: if `before` is not less than `after`, the order is just after `before`.
pub(crate) fn between(before: Option<&[u8]>, after: Option<&[u8]>, step: u32) -> Vec<u8> {
    let (before, after) = (before.map(digits), after.map(digits));
    let found = match (&before, &after) {
        (None, None) => vec![MIDDLE],
        (Some(before), None) => behind(before, step),
        (None, Some(after)) => in_front(after, step),
        (Some(before), Some(after)) if before < after => inside(before, after, step),
        (Some(before), Some(_)) => [&before[..], &[MIDDLE]].concat(),
    };
    found.iter().flat_map(|digit| digit.to_be_bytes()).collect()
}

/// This many orders between two, evenly spaced.
pub(crate) fn spread(before: Option<&[u8]>, after: Option<&[u8]>, count: usize) -> Vec<Vec<u8>> {
    let mut orders = vec![Vec::new(); count];
    fill(&mut orders, before, after);
    orders
}

fn fill(orders: &mut [Vec<u8>], before: Option<&[u8]>, after: Option<&[u8]>) {
    if orders.is_empty() {
        return;
    }
    let middle = orders.len() / 2;
    let order = between(before, after, u32::MAX);
    let (left, right) = orders.split_at_mut(middle);
    fill(left, before, Some(&order));
    fill(&mut right[1..], Some(&order), after);
    right[0] = order;
}

fn digits(order: &[u8]) -> Vec<u32> {
    order.chunks(4).map(|digit| digit.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))).collect()
}

// After the first digit if there is room, otherwise after the rest of it.
fn behind(before: &[u32], step: u32) -> Vec<u32> {
    let Some((&first, rest)) = before.split_first() else { return vec![MIDDLE] };
    let room = u32::MAX - first;
    if room > 0 {
        return vec![(first + step.min(room.div_ceil(2))).max(LAST_MIN)];
    }
    [vec![first], behind(rest, step)].concat()
}

fn in_front(after: &[u32], step: u32) -> Vec<u32> {
    let Some((&first, rest)) = after.split_first() else { return vec![MIDDLE] };
    if first > LAST_MIN {
        return vec![first - step.min((first - LAST_MIN).div_ceil(2))];
    }
    if first == LAST_MIN {
        // All orders that begin with the least digit are between it and this one.
        return vec![LAST_MIN - 1, MIDDLE];
    }
    [vec![first], in_front(rest, step)].concat()
}

fn inside(before: &[u32], after: &[u32], step: u32) -> Vec<u32> {
    let common = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (head, rest) = after.split_at(common);
    let Some(&low) = before.get(common) else { return [head, &in_front(rest, step)].concat() };
    let gap = rest[0] - low;
    if gap >= 2 {
        return [head, &[low + step.min(gap / 2)]].concat();
    }
    [head, &[low], &behind(&before[common + 1..], step)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_order(order: &[u8]) -> bool {
        let digits = digits(order);
        order.len().is_multiple_of(4)
            && digits.iter().all(|digit| *digit > 0)
            && digits.last().is_some_and(|last| *last >= LAST_MIN)
    }

    proptest! {
        #[test]
        fn an_insertion_anywhere_stands_where_it_belongs(
            places in proptest::collection::vec((any::<u16>(), 1u32..5000), 1..300),
            seed in any::<bool>(),
        ) {
            let mut list: Vec<Vec<u8>> = Vec::new();
            for (place, step) in places {
                let at = if seed { usize::from(place) % (list.len() + 1) } else { list.len() / 2 };
                let before = at.checked_sub(1).map(|at| list[at].clone());
                let order = between(before.as_deref(), list.get(at).map(Vec::as_slice), step);
                prop_assert!(is_order(&order), "{order:?}");
                list.insert(at, order);
            }
            prop_assert!(list.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn a_million_insertions_at_one_place_keep_orders_short() {
        // Last, first, after one that stays, before one that stays.
        let (mut last, mut first) = (between(None, None, 1), between(None, None, 1));
        let fixed = [between(None, None, 1), between(Some(&between(None, None, 1)), None, 1)];
        let (mut behind_fixed, mut before_fixed) = (fixed[1].clone(), fixed[0].clone());
        for number in 0..1_000_000u32 {
            let step = 1 + number % 2048;
            last = between(Some(&last), None, step);
            first = between(None, Some(&first), step);
            behind_fixed = between(Some(&fixed[0]), Some(&behind_fixed), step);
            before_fixed = between(Some(&before_fixed), Some(&fixed[1]), step);
        }
        for order in [last, first, behind_fixed, before_fixed] {
            assert!(order.len() <= 16, "{} bytes", order.len());
        }
    }

    #[test]
    fn spread_orders_are_short_and_ascending() {
        let bounds = [between(None, None, 1), between(Some(&between(None, None, 1)), None, 1)];
        let orders = spread(Some(&bounds[0]), Some(&bounds[1]), 10_000);
        assert!(orders.is_sorted_by(|a, b| a < b) && orders.iter().all(|order| order.len() <= 12));
        assert!(bounds[0] < orders[0] && orders[9_999] < bounds[1]);
    }
}
