//! Numbers as people read them.

/// Three significant digits, with separated thousands.
pub fn figure(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.1 && value.is_finite() {
        let decimals = 2 - value.abs().log10().floor() as i32;
        return format!("{value:.*}", decimals.max(0) as usize);
    }
    let rounded = if value.abs() >= 1_000.0 && value.is_finite() {
        let factor = 10f64.powi(value.abs().log10().floor() as i32 - 2);
        (value / factor).round() * factor
    } else {
        value
    };
    crate::run::figure(rounded)
}

/// Volumes with the things that they count, such as `1, 10 threads`.
pub fn volumes(volumes: &[&str], counts: Option<&str>) -> String {
    let Some(things) = counts else { return volumes.join(", ") };
    let grouped = |volume: &&str| match volume.parse::<u32>() {
        Ok(count) if count >= 1_000 => crate::run::figure(f64::from(count)),
        _ => (*volume).to_owned(),
    };
    let listed = volumes.iter().map(grouped).collect::<Vec<_>>().join(", ");
    let things = if volumes == ["1"] { things.strip_suffix('s').unwrap_or(things) } else { things };
    format!("{listed} {things}")
}

/// A time with its unit.
pub fn seconds(value: f64) -> String {
    crate::run::table::time(value * 1e9)
}

/// Bytes with their unit.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = value;
    let mut unit = 0;
    while value >= 1_000.0 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 10.0);
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        assert_eq!([1_234_567.0, 48.126, 0.5, 999.6].map(figure), ["1,230,000", "48.13", "0.500", "1,000"]);
        assert_eq!(
            [0.0, 0.099_96, 0.012_34, 0.000_412_3].map(figure),
            ["0.000", "0.1000", "0.0123", "0.000412"]
        );
        assert_eq!([12.0, 2_048.0, 5.0e9].map(bytes), ["12 B", "2.0 KiB", "4.7 GiB"]);
        assert_eq!([0.000_012, 3.0].map(seconds), ["12.0 µs", "3.00 s"]);
        let texts = [&["1"][..], &["100"], &["1", "10"]].map(|found| volumes(found, Some("threads")));
        assert_eq!(texts, ["1 thread", "100 threads", "1, 10 threads"]);
        assert_eq!(volumes(&["10000"], Some("vertices")), "10,000 vertices");
        assert_eq!(volumes(&["0005-02"], None), "0005-02");
    }
}
