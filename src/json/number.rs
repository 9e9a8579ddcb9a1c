//! Numbers as JavaScript reads and writes them.

use crate::seq::MAX_SAFE;

/// The value of a number's stored text; infinite when it overflows a double.
#[must_use]
pub fn parse(text: &[u8]) -> Option<f64> {
    if let Some(n) = plain_int(text) {
        return Some(n as f64);
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The value as an integer of magnitude at most 2^53 - 1; `-0` is 0.
#[must_use]
pub fn safe_int(text: &[u8]) -> Option<i64> {
    if let Some(n) = plain_int(text) {
        return Some(n);
    }
    let n = parse(text)?;
    (n.fract() == 0.0 && n.abs() <= MAX_SAFE as f64).then_some(n as i64)
}

/// Up to fifteen digits without sign, point or exponent: nearly every number of a log.
#[inline]
fn plain_int(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 15 {
        return None;
    }
    let mut n = 0_i64;
    for &byte in text {
        if !byte.is_ascii_digit() {
            return None;
        }
        n = n * 10 + i64::from(byte - b'0');
    }
    Some(n)
}

/// The text that `JSON.stringify` gives for a number.
#[must_use]
pub fn stringify(n: f64) -> String {
    if !n.is_finite() {
        return "null".into();
    }
    if n == 0.0 {
        return "0".into();
    }
    // Rust prints the shortest digits that read back, as JavaScript does; only the layout differs.
    let scientific = format!("{:e}", n.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = digits.len() as i32;
    let body = if (count..=21).contains(&point) {
        format!("{digits}{}", "0".repeat((point - count) as usize))
    } else if (1..=21).contains(&point) {
        format!("{}.{}", &digits[..point as usize], &digits[point as usize..])
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", "0".repeat(-point as usize))
    } else {
        let sign = if point > 0 { '+' } else { '-' };
        let power = (point - 1).abs();
        if count == 1 {
            format!("{digits}e{sign}{power}")
        } else {
            format!("{}.{}e{sign}{power}", &digits[..1], &digits[1..])
        }
    };
    if n < 0.0 { format!("-{body}") } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_laid_out_as_javascript_does() {
        for (n, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.25e-9, "1.25e-9"),
            (0.1, "0.1"),
            (f64::INFINITY, "null"),
            (5e-324, "5e-324"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
        ] {
            assert_eq!(stringify(n), text);
        }
    }
}
