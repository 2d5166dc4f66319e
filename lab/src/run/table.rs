//! Tables whose columns are aligned, and times with three digits.

/// Three digits and a unit.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let decimals = match value {
        value if value < 0.005 => 0,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// A table in Markdown with padded columns. The first line is its head.
pub fn aligned(lines: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let row = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat((*width).max(3))).collect();
    lines[1..].iter().fold(row(&lines[0]) + &row(&rule), |text, line| text + &row(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let texts = [0.004, 3.1, 999.6, 12_345.0, 99_960.0, 1.5e6, 2e9, 4.2e10].map(time);
        assert_eq!(texts, ["0 ns", "3.10 ns", "1.00 µs", "12.3 µs", "100 µs", "1.50 ms", "2.00 s", "42.0 s"]);
    }
}
