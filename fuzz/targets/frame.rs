//! Walking a zstd frame: any bytes, no panic, and a whole frame lies within the input.
#![no_main]

use dsh_log::storage::frame::{Found, walk};
use dsh_log::storage::source::{Source, Window};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::memory("fuzz", bytes.to_vec());
    if let Ok(Found::Frame(frame)) = walk(&mut Window::new(&source), 0) {
        assert!(frame.end <= bytes.len() as u64);
    }
});
