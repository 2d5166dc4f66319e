//! Sums, and least and greatest values, of the instances of a group.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use crate::model::{Value, nearest_float};
use crate::read::stored::value_bytes;
use crate::search::AggregateFunction;

/// A value in progress.
#[derive(Clone, Debug)]
pub(super) enum Computed {
    Sum(Sum),
    Least(Option<Value>),
    Greatest(Option<Value>),
}

/// Why a value does not count: what was expected instead of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uncomputed {
    /// A sum is of numbers.
    NoNumber,
    /// Values of this kind have no order among those before.
    Incomparable,
    /// No number holds the sum.
    TooGreat,
}

/// A sum of numbers of all kinds: integers and decimals add up exactly, floats in the order in which they come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    whole: Option<i128>,
    decimal: Option<Decimal>,
    float: Option<f64>,
}

impl Computed {
    pub(super) fn new(function: AggregateFunction) -> Computed {
        match function {
            AggregateFunction::Sum => Computed::Sum(Sum::default()),
            AggregateFunction::Min => Computed::Least(None),
            AggregateFunction::Max => Computed::Greatest(None),
        }
    }

    /// Counts a value; returns the bytes by which what is kept grows.
    pub(super) fn add(&mut self, value: &Value) -> Result<usize, Uncomputed> {
        let (kept, wanted) = match self {
            Computed::Sum(sum) => return sum.add(value).map(|()| 0),
            Computed::Least(kept) => (kept, Ordering::Less),
            Computed::Greatest(kept) => (kept, Ordering::Greater),
        };
        if !value.is_scalar() {
            return Err(Uncomputed::Incomparable);
        }
        let before = match kept {
            Some(known) => {
                if value.compare(known).ok_or(Uncomputed::Incomparable)? != wanted {
                    return Ok(0);
                }
                value_bytes(known)
            }
            None => 0,
        };
        *kept = Some(value.clone());
        Ok(value_bytes(value).saturating_sub(before))
    }

    /// The value; `None` if there was none to count.
    pub(super) fn value(self) -> Result<Option<Value>, Uncomputed> {
        match self {
            Computed::Sum(sum) => sum.value(),
            Computed::Least(kept) | Computed::Greatest(kept) => Ok(kept),
        }
    }
}

impl Sum {
    fn add(&mut self, value: &Value) -> Result<(), Uncomputed> {
        match value {
            Value::Integer(number) => {
                let sum = self.whole.unwrap_or_default().checked_add(i128::from(*number));
                self.whole = Some(sum.ok_or(Uncomputed::TooGreat)?);
            }
            Value::Decimal(number) => self.decimal = Some(decimal_sum(self.decimal, *number)?),
            Value::Float(number) => self.float = Some(float_sum(self.float, *number)?),
            _ => return Err(Uncomputed::NoNumber),
        }
        Ok(())
    }

    /// A float if one of the numbers is one, or else a decimal, or else an integer; a decimal also for an integer of more than
    /// 64 bits.
    fn value(self) -> Result<Option<Value>, Uncomputed> {
        let Sum { whole, decimal, float } = self;
        if let Some(float) = float {
            let sum = float_sum(decimal.map(nearest_float), whole.unwrap_or_default() as f64)?;
            return Ok(Some(Value::Float(float_sum(Some(sum), float)?)));
        }
        let as_decimal =
            |number| Decimal::try_from_i128_with_scale(number, 0).map_err(|_| Uncomputed::TooGreat);
        Ok(match (whole, decimal) {
            (None, None) => None,
            (Some(whole), None) => Some(match i64::try_from(whole) {
                Ok(whole) => Value::Integer(whole),
                Err(_) => Value::Decimal(as_decimal(whole)?),
            }),
            (None, Some(decimal)) => Some(Value::Decimal(decimal)),
            (Some(whole), Some(decimal)) => {
                Some(Value::Decimal(decimal_sum(Some(decimal), as_decimal(whole)?)?))
            }
        })
    }
}

fn decimal_sum(sum: Option<Decimal>, number: Decimal) -> Result<Decimal, Uncomputed> {
    sum.map_or(Some(number), |sum| sum.checked_add(number)).ok_or(Uncomputed::TooGreat)
}

fn float_sum(sum: Option<f64>, number: f64) -> Result<f64, Uncomputed> {
    let before = sum.unwrap_or_default();
    let after = before + number;
    let is_too_great = !after.is_finite() && before.is_finite() && number.is_finite();
    if is_too_great { Err(Uncomputed::TooGreat) } else { Ok(after) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[Value]) -> Result<Option<Value>, Uncomputed> {
        let mut computed = Computed::new(AggregateFunction::Sum);
        values.iter().try_for_each(|value| computed.add(value).map(drop))?;
        computed.value()
    }

    #[test]
    fn sums_of_integers_and_decimals_are_exact() {
        let decimal = |text: &str| Value::Decimal(Decimal::from_str_exact(text).unwrap());
        assert_eq!(sum(&[]), Ok(None));
        assert_eq!(sum(&[2.into(), (-5).into()]), Ok(Some((-3).into())));
        // More than 64 bits hold, and back again.
        let most = Value::Integer(i64::MAX);
        assert_eq!(sum(&[most.clone(), most.clone()]), Ok(Some(decimal("18446744073709551614"))));
        assert_eq!(sum(&[most.clone(), 1.into(), (-1).into()]), Ok(Some(most)));
        assert_eq!(sum(&[1.into(), decimal("0.10"), decimal("0.2")]), Ok(Some(decimal("1.30"))));
        assert_eq!(
            sum(&[Value::Decimal(Decimal::MAX), Value::Decimal(Decimal::MAX)]),
            Err(Uncomputed::TooGreat)
        );
        assert_eq!(sum(&[Value::Decimal(Decimal::MAX), 1.into()]), Err(Uncomputed::TooGreat));
    }

    #[test]
    fn a_float_makes_the_sum_a_float_that_may_be_too_great() {
        let decimal = Value::Decimal(Decimal::from_str_exact("0.25").unwrap());
        assert_eq!(sum(&[1.into(), decimal, Value::Float(0.5)]), Ok(Some(Value::Float(1.75))));
        let most = Value::Float(f64::MAX);
        assert_eq!(sum(&[most.clone(), most.clone()]), Err(Uncomputed::TooGreat));
        // An infinite value is one, and its sum is no mistake.
        let infinite = Value::Float(f64::INFINITY);
        assert_eq!(sum(&[most, infinite.clone()]), Ok(Some(infinite)));
        assert_eq!(sum(&["1".into()]), Err(Uncomputed::NoNumber));
    }

    #[test]
    fn least_and_greatest_follow_the_order_of_searches() {
        let of = |function, values: &[Value]| {
            let mut computed = Computed::new(function);
            values.iter().try_for_each(|value| computed.add(value).map(drop))?;
            computed.value()
        };
        let numbers = [2.into(), Value::Float(1.5), Value::Decimal(Decimal::from(3))];
        assert_eq!(of(AggregateFunction::Min, &numbers), Ok(Some(Value::Float(1.5))));
        assert_eq!(of(AggregateFunction::Max, &numbers), Ok(Some(Value::Decimal(Decimal::from(3)))));
        assert_eq!(of(AggregateFunction::Max, &["a".into(), "b".into()]), Ok(Some("b".into())));
        assert_eq!(of(AggregateFunction::Max, &["a".into(), 1.into()]), Err(Uncomputed::Incomparable));
        let set = Value::set([Value::from(1)]).unwrap();
        assert_eq!(of(AggregateFunction::Min, &[set]), Err(Uncomputed::Incomparable));
    }
}
