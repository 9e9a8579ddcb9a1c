//! Times of a log, which are epoch milliseconds, as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The zone that people are shown times in.
#[derive(Clone, Debug)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// The zone of this machine.
    pub(crate) fn local() -> Zone {
        Zone(TimeZone::system())
    }

    /// UTC.
    pub(crate) fn utc() -> Zone {
        Zone(TimeZone::UTC)
    }

    /// To the second, with the zone: `2026-03-01 18:02:11 UTC`.
    pub(crate) fn second(&self, ms: i64) -> String {
        self.format("%Y-%m-%d %H:%M:%S %Z", ms)
    }

    /// To the minute, with the zone: `2026-03-01 18:02 UTC`.
    pub(crate) fn minute(&self, ms: i64) -> String {
        self.format("%Y-%m-%d %H:%M %Z", ms)
    }

    /// The day: `2026-03-01`.
    pub(crate) fn day(&self, ms: i64) -> String {
        self.format("%Y-%m-%d", ms)
    }

    /// The time of the day: `18:02:11`.
    pub(crate) fn clock(&self, ms: i64) -> String {
        self.format("%H:%M:%S", ms)
    }

    /// Reads a time: epoch milliseconds, RFC 3339, or a day, perhaps with a time, in this zone.
    pub(crate) fn parse(&self, text: &str) -> Option<i64> {
        if let Ok(ms) = text.parse() {
            return Some(ms);
        }
        if let Ok(time) = text.parse::<Timestamp>() {
            return Some(time.as_millisecond());
        }
        let day = text.parse::<jiff::civil::DateTime>().ok()?;
        Some(self.0.to_timestamp(day).ok()?.as_millisecond())
    }

    fn format(&self, format: &str, ms: i64) -> String {
        match Timestamp::from_millisecond(ms) {
            Ok(time) => time.to_zoned_datetime(self.0.clone()).strftime(format).to_string(),
            // No calendar has it.
            Err(_) => format!("{ms} ms"),
        }
    }
}

/// As RFC 3339 in UTC with milliseconds; none when no calendar has it.
pub(crate) fn rfc3339(ms: i64) -> Option<String> {
    Timestamp::from_millisecond(ms).ok().map(|time| format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_with_their_zone() {
        let zone = Zone::utc();
        assert_eq!(zone.second(1_772_388_131_250), "2026-03-01 18:02:11 UTC");
        assert_eq!(zone.minute(1_772_388_131_250), "2026-03-01 18:02 UTC");
        assert_eq!((zone.day(0), zone.clock(0)), ("1970-01-01".into(), "00:00:00".into()));
        assert_eq!(zone.second(i64::MAX), "9223372036854775807 ms");
        assert_eq!(rfc3339(1_772_388_131_250).as_deref(), Some("2026-03-01T18:02:11.250Z"));
        assert_eq!(rfc3339(i64::MIN), None);
        for (text, ms) in [
            ("1772388131250", Some(1_772_388_131_250)),
            ("2026-03-01T18:02:11.250Z", Some(1_772_388_131_250)),
            ("2026-03-01 18:02", Some(1_772_388_120_000)),
            ("1970-01-02", Some(86_400_000)),
            ("yesterday", None),
        ] {
            assert_eq!(zone.parse(text), ms, "{text}");
        }
    }
}
