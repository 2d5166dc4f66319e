//! Compares decimals with floats exactly, and finds the float nearest to a decimal.

use std::cmp::Ordering;

use rust_decimal::Decimal;

/// Integers up to this are exact as floats, so one division finds the float nearest to a quotient of two of them.
const EXACT_MANTISSA: u128 = 1 << 53;
const EXACT_SCALE: u32 = 22;

/// The float nearest to a decimal. A greater decimal never gets a lesser float, and equal ones (1.5 and 1.50) get the
/// same.
#[expect(clippy::expect_used, reason = "a decimal is written as floats are read")]
pub(crate) fn nearest_float(number: Decimal) -> f64 {
    let (mantissa, scale) = (number.mantissa(), number.scale());
    if mantissa.unsigned_abs() <= EXACT_MANTISSA && scale <= EXACT_SCALE {
        return mantissa as f64 / 10u128.pow(scale) as f64;
    }
    // For a tenth of these, `Decimal::to_f64` is one float off.
    number.array_string().as_ref().parse().expect("a decimal is written as floats are read")
}

/// A number cut toward zero to the precision of decimals. Parts with their signs order as the numbers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parts {
    /// The number without its fraction.
    pub(super) whole: i128,
    /// Units: 10^-28.
    pub(super) fraction: i128,
}

impl Parts {
    pub(super) fn of_integer(number: i64) -> Parts {
        Parts { whole: number.into(), fraction: 0 }
    }

    pub(super) fn of_decimal(number: Decimal) -> Parts {
        let one = 10i128.pow(number.scale());
        let mantissa = number.mantissa();
        Parts { whole: mantissa / one, fraction: mantissa % one * unit(number.scale()) }
    }

    /// The decimal of this scale; `None` if it does not exist.
    pub(super) fn to_decimal(self, scale: u32) -> Option<Decimal> {
        if scale > Decimal::MAX_SCALE {
            return None;
        }
        let mantissa = self.whole.checked_mul(10i128.pow(scale))?.checked_add(self.fraction / unit(scale))?;
        Decimal::try_from_i128_with_scale(mantissa, scale).ok()
    }

    /// Compares the number of these parts with a float.
    pub(super) fn compare_float(self, float: f64) -> Ordering {
        if !float.is_finite() {
            return if float.is_nan() || float > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        #[expect(clippy::cast_possible_truncation, reason = "it saturates: beyond all decimals stays beyond")]
        let whole = float.trunc() as i128;
        let (fraction, is_cut) = units_of(float.fract().abs());
        let cut = match is_cut {
            false => Ordering::Equal,
            true if float > 0.0 => Ordering::Less,
            true => Ordering::Greater,
        };
        let fraction = if float > 0.0 { fraction } else { -fraction };
        self.cmp(&Parts { whole, fraction }).then(cut)
    }
}

/// One unit in the last place of a decimal. Units: 10^-28.
fn unit(scale: u32) -> i128 {
    10i128.pow(Decimal::MAX_SCALE - scale)
}

/// A float of at least 0 and below 1 in whole units of 10^-28, and true if there is a remainder.
fn units_of(float: f64) -> (i128, bool) {
    const MANTISSA_BITS: u32 = 52;
    let bits = float.to_bits();
    let (exponent, digits) = (bits >> MANTISSA_BITS, bits & ((1 << MANTISSA_BITS) - 1));
    let mantissa = if exponent == 0 { digits } else { digits | 1 << MANTISSA_BITS };
    // It is mantissa · 2^(exponent - 1075), and 10^28 is 5^28 · 2^28. The product takes 53 + 66 bits.
    let product = u128::from(mantissa) * 5u128.pow(Decimal::MAX_SCALE);
    let shift = 1075 - exponent.max(1) - u64::from(Decimal::MAX_SCALE);
    match u32::try_from(shift).ok().and_then(|shift| Some((product.checked_shr(shift)?, shift))) {
        Some((units, shift)) => (units.cast_signed(), units << shift != product),
        None => (0, mantissa != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal() -> impl Strategy<Value = Decimal> {
        (any::<i128>(), 0u32..96, 0u32..29)
            .prop_map(|(number, bits, scale)| Decimal::from_i128_with_scale(number % (1i128 << bits), scale))
    }

    proptest! {
        #[test]
        fn equal_decimals_have_one_float_and_others_keep_their_order(a in decimal(), b in decimal()) {
            prop_assert_eq!(nearest_float(a).to_bits(), nearest_float(a.normalize()).to_bits());
            if a <= b {
                prop_assert!(nearest_float(a) <= nearest_float(b));
            }
        }

        #[test]
        fn parts_are_exact(number in decimal()) {
            prop_assert_eq!(Parts::of_decimal(number).to_decimal(number.scale()), Some(number));
        }

        /// Numbers of one sign, written with all their digits, compare as texts do.
        #[test]
        fn a_decimal_compares_with_a_float_as_all_their_digits_do(
            number in decimal(),
            ulps in -2i64..3,
            far in any::<f64>(),
            is_near in any::<bool>(),
        ) {
            let near = nearest_float(number);
            let near = if near == 0.0 { near } else { f64::from_bits(near.to_bits().wrapping_add_signed(ulps)) };
            let float = if is_near { near } else { far };
            prop_assume!(!float.is_nan());
            let digits = |text: String| {
                let (whole, fraction) = text.split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap_or((text, String::new()));
                format!("{:0>320}.{:0<1100}", whole.trim_start_matches('-'), fraction)
            };
            let magnitude = digits(number.to_string()).cmp(&digits(format!("{float:.1100}")));
            let expected = match (number.is_sign_negative() && !number.is_zero(), float < 0.0) {
                _ if number.is_zero() => 0.0f64.partial_cmp(&float).unwrap(),
                (true, true) => magnitude.reverse(),
                (false, false) => magnitude,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
            };
            prop_assert_eq!(Parts::of_decimal(number).compare_float(float), expected);
        }
    }

    #[test]
    fn floats_that_are_no_numbers_lie_outside_all_decimals() {
        let most = Parts::of_decimal(Decimal::MAX);
        assert_eq!(most.compare_float(f64::INFINITY), Ordering::Less);
        assert_eq!(most.compare_float(f64::NAN), Ordering::Less);
        assert_eq!(Parts::of_decimal(Decimal::MIN).compare_float(f64::NEG_INFINITY), Ordering::Greater);
        assert_eq!(Parts::of_decimal(Decimal::ZERO).compare_float(-5e-324), Ordering::Greater);
        assert_eq!(Parts::of_decimal(Decimal::ZERO).compare_float(-0.0), Ordering::Equal);
    }
}
