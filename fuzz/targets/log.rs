//! Reading a whole file and looking at it from every side: any bytes, no panic.
#![no_main]

use dsh_log::evidence::aimed::Aimed;
use dsh_log::evidence::target::Asked;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::seq::Seq;
use dsh_log::storage::source::Source;
use dsh_log::view::moment::Moment;
use dsh_log::view::transcript::told;
use dsh_log::view::{header, messages, nodes, requests, summary};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::memory("fuzz", bytes.to_vec());
    let options = ReadOptions { threads: 1, ..ReadOptions::default() };
    let Ok(log) = Log::read(source, &options) else { return };
    let _ = messages::list(&log, Moment::Balanced);
    let _ = nodes::current(&log, Moment::Stored);
    let _ = header::history(&log, Moment::Balanced);
    let _ = told::of_log(&log, Moment::Balanced, |_| ControlFlow::Continue(()));
    let _ = requests::list(&log);
    let _ = summary::of(&log);
    let source = Source::memory("fuzz", bytes.to_vec());
    let asked = Asked::Text("e".to_owned(), Seq(u64::MAX));
    let aimed = Aimed::read(source, asked, &options, &mut |_| {});
    let _ = aimed.and_then(|aimed| aimed.ask(aimed.target()?).map(drop));
});
