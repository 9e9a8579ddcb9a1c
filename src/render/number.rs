//! Counts, sizes and durations for people.

/// A count with its thousands set apart: `1,316`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in units of 1000: `39 B`, `7.5 kB`, `75 kB`, `1.2 MB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut unit = 0;
    let mut value = bytes as f64 / 1_000.0;
    // What rounds to 1000 is one of the next unit.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    let places = if value < 9.95 { 1 } else { 0 };
    format!("{value:.places$} {}", UNITS[unit])
}

/// Milliseconds: `350 ms`, `5.2 s`, `52 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
pub(crate) fn duration(ms: u64) -> String {
    const MINUTE: u64 = 60_000;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let both = |large: u64, unit: &str, small: u64, part: &str| match small {
        0 => format!("{large} {unit}"),
        _ => format!("{large} {unit} {small} {part}"),
    };
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 if !ms.is_multiple_of(1_000) => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        1_000..MINUTE => format!("{} s", ms / 1_000),
        MINUTE..HOUR => both(ms / MINUTE, "min", ms % MINUTE / 1_000, "s"),
        HOUR..DAY => both(ms / HOUR, "h", ms % HOUR / MINUTE, "min"),
        _ => both(ms / DAY, "d", ms % DAY / HOUR, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_thousands_apart() {
        let table = [(0, "0"), (999, "999"), (1_316, "1,316"), (84_120, "84,120"), (1_000_000, "1,000,000")];
        table.iter().for_each(|(n, text)| assert_eq!(count(*n), *text));
    }

    #[test]
    fn sizes_keep_two_or_three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_950, "10 kB"),
            (75_400, "75 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn durations_have_at_most_two_units() {
        for (ms, text) in [
            (0, "0 ms"),
            (1_000, "1 s"),
            (5_230, "5.2 s"),
            (52_900, "52 s"),
            (60_000, "1 min"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (273_600_000, "3 d 4 h"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }
}
