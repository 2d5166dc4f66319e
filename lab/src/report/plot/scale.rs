//! Scales: the place of a value on an axis, and the ticks.

/// Most ticks of a linear axis.
const TICKS_MAX: usize = 7;
/// Most ticks of a logarithmic one: 1, 2 and 5 of three powers of ten.
const LOG_TICKS_MAX: usize = 9;
/// The highest share of percentiles that has a place of its own.
const SHARE_MAX: f64 = 0.999_999;
/// Multiples of a power of ten that are good ticks.
const GOOD: [f64; 3] = [1.0, 2.0, 5.0];

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// With the unit.
    pub label: String,
    pub scale: Scale,
    /// The least and the most that it shows; all values if `None`.
    pub range: Option<[f64; 2]>,
}

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From 0, or from the least value if that is less.
    Linear,
    /// Values above 0 only.
    Log,
    /// Shares from 0 to 1: each nine more takes as much room.
    Percentile,
}

/// A scale with its range, on pixels.
#[derive(Clone, Debug)]
pub struct Placed {
    scale: Scale,
    /// Shape: least and most.
    range: [f64; 2],
    /// Where they are. Units: pixels.
    pixels: [f64; 2],
}

/// A tick: its place and its label.
pub struct Tick {
    /// Units: pixels.
    pub at: f64,
    pub label: String,
}

impl Scale {
    /// True for values that have a place.
    pub fn has(self, value: f64) -> bool {
        match self {
            Scale::Linear => value.is_finite(),
            Scale::Log => value.is_finite() && value > 0.0,
            Scale::Percentile => (0.0..=1.0).contains(&value),
        }
    }

    fn stretched(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
            Scale::Percentile => -(1.0 - value.min(SHARE_MAX)).log10(),
        }
    }
}

impl Axis {
    /// An axis over all values.
    pub fn new(label: impl Into<String>, scale: Scale) -> Axis {
        Axis { label: label.into(), scale, range: None }
    }

    /// Places the axis on these pixels, with room for these values.
    pub fn place(&self, values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> Placed {
        let given = self.range.into_iter().flatten().chain(values.filter(|_| self.range.is_none()));
        let given: Vec<f64> = given.filter(|value| self.scale.has(*value)).collect();
        let least = given.iter().copied().min_by(f64::total_cmp);
        let most = given.iter().copied().max_by(f64::total_cmp);
        let range = match (self.scale, least.zip(most)) {
            (Scale::Linear, Some((least, most))) => linear_range(least.min(0.0), most),
            (Scale::Linear, None) => [0.0, 1.0],
            (Scale::Log, Some((least, most))) => log_range(least, most),
            (Scale::Log, None) => [1.0, 10.0],
            (Scale::Percentile, _) => [0.0, most.unwrap_or_default().clamp(0.9, SHARE_MAX)],
        };
        Placed { scale: self.scale, range, pixels }
    }
}

impl Placed {
    /// The pixel of a value; values beyond the range are at its end.
    pub fn at(&self, value: f64) -> f64 {
        let [low, high] = self.range.map(|end| self.scale.stretched(end));
        let [from, to] = self.pixels;
        let share = (self.scale.stretched(value) - low) / (high - low);
        from + (to - from) * share.clamp(0.0, 1.0)
    }

    /// The ticks, from the least to the most.
    pub fn ticks(&self) -> Vec<Tick> {
        let [least, most] = self.range;
        let values = match self.scale {
            Scale::Linear => linear_ticks(least, most),
            Scale::Log => log_ticks(least, most),
            Scale::Percentile => {
                let nines = (1..=6).map(|nines| 1.0 - 10f64.powi(-nines));
                // The least share is the end of the axis, and its label would be over the next one.
                [0.5].into_iter().chain(nines).filter(|share| *share <= most + 1e-9).collect()
            }
        };
        let label = |value: f64| match self.scale {
            Scale::Percentile => format!("{} %", number(100.0 * value)),
            _ => number(value),
        };
        values.into_iter().map(|value| Tick { at: self.at(value), label: label(value) }).collect()
    }
}

/// A number as a label: `0.05`, `1,500`, `2.5 M`.
pub fn number(value: f64) -> String {
    let (value, unit) = match value.abs() {
        size if size >= 1e9 => (value / 1e9, " G"),
        size if size >= 1e6 => (value / 1e6, " M"),
        _ => (value, ""),
    };
    let decimals = if value.abs() >= 1_000.0 { 0 } else { 6 };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let whole = digits.split('.').next().unwrap_or_default().len();
    let mut label = sign.to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && place < whole && (whole - place) % 3 == 0 {
            label.push(',');
        }
        label.push(digit);
    }
    label + unit
}

/// The least of the good steps that is at least this one.
fn good_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let steps = GOOD.iter().map(|good| good * power).chain([10.0 * power]);
    steps.into_iter().find(|good| *good >= step * (1.0 - 1e-9)).unwrap_or(step)
}

fn linear_range(least: f64, most: f64) -> [f64; 2] {
    if most <= least {
        return [least, least + 1.0];
    }
    let step = good_step((most - least) / (TICKS_MAX - 2) as f64);
    [(least / step).floor() * step, (most / step).ceil() * step]
}

fn linear_ticks(least: f64, most: f64) -> Vec<f64> {
    let step = good_step((most - least) / (TICKS_MAX - 1) as f64);
    let first = (least / step).ceil();
    let count = (most / step - first + 1e-9).floor() as usize + 1;
    (0..count).map(|place| (first + place as f64) * step).collect()
}

/// All good numbers from the power of ten below the least to the one above the most.
fn good_numbers(least: f64, most: f64) -> Vec<f64> {
    let powers = least.log10().floor() as i32..=most.log10().ceil() as i32;
    powers.flat_map(|power| GOOD.map(|good| good * 10f64.powi(power))).collect()
}

fn log_range(least: f64, most: f64) -> [f64; 2] {
    let good = good_numbers(least, most);
    let low = good.iter().copied().rfind(|good| *good <= least * (1.0 + 1e-9)).unwrap_or(least);
    let high = good.iter().copied().find(|good| *good >= most * (1.0 - 1e-9) && *good > low);
    [low, high.unwrap_or(low * 10.0)]
}

fn log_ticks(least: f64, most: f64) -> Vec<f64> {
    let is_within = |value: &f64| *value >= least * (1.0 - 1e-9) && *value <= most * (1.0 + 1e-9);
    let good: Vec<f64> = good_numbers(least, most).into_iter().filter(is_within).collect();
    if good.len() <= LOG_TICKS_MAX {
        return good;
    }
    let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-9;
    let powers: Vec<f64> = good.into_iter().filter(is_power).collect();
    let every = powers.len().div_ceil(LOG_TICKS_MAX);
    powers.into_iter().step_by(every).collect()
}
