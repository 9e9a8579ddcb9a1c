//! Instants as text: `YYYY-MM-DDThh:mm:ss.mmmZ` (v0 section 7.4).

/// A part of the text that is a number of so many digits.
fn number(text: &[u8], from: usize, digits: usize) -> Option<i64> {
    let part = text.get(from..from + digits)?;
    part.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
}

fn days_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The instant in epoch milliseconds; `None` unless it is of that form, of a year from 1 to 9999
/// and a date of the calendar.
#[must_use]
pub fn parse(text: &[u8]) -> Option<i64> {
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if text.len() != 24 || marks.iter().any(|(at, mark)| text.get(*at) != Some(mark)) {
        return None;
    }
    let [year, month, day] = [(0, 4), (5, 2), (8, 2)].map(|(from, digits)| number(text, from, digits));
    let (year, month, day) = (year?, month?, day?);
    let [hour, minute, second, milli] =
        [(11, 2), (14, 2), (17, 2), (20, 3)].map(|(from, digits)| number(text, from, digits));
    let (hour, minute, second, milli) = (hour?, minute?, second?, milli?);
    let in_calendar = year > 0 && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    if !in_calendar || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years begin in March here, so that the leap day is the last of its year.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milli)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn instants_are_those_of_the_calendar() {
        assert_eq!(parse(b"1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(parse(b"2026-01-01T00:00:00.001Z"), Some(1_767_225_600_001));
        assert_eq!(parse(b"2000-02-29T23:59:59.999Z"), Some(951_868_799_999));
        assert_eq!(parse(b"0001-01-01T00:00:00.000Z"), Some(-62_135_596_800_000));
        for bad in [
            "1900-02-29T00:00:00.000Z",
            "0000-01-01T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.000+",
            "+026-01-01T00:00:00.000Z",
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
