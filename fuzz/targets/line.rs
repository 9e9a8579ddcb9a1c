//! Judging one line by the rules of each generation: any bytes, no panic.
#![no_main]

use dsh_log::format::dialect::Dialect;
use dsh_log::format::judge;
use dsh_log::format::row::RowContext;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for version in 0..=Dialect::newest().version {
        let Some(dialect) = Dialect::of(version) else { continue };
        let _ = judge::parse(bytes, &RowContext { dialect, session_id: b"fuzz", known: true, glean: None });
    }
});
