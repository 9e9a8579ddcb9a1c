//! Every bound on what an input can make us allocate or loop.

/// Bounds on reading; all adjustable, all with defaults that sound logs never reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest record that is read, in bytes of decoded text. A longer one is named and passed
    /// over. Default: 512 MiB, about the longest string the harness itself can hold.
    pub record_bytes: u64,
    /// How many findings of one code are kept whole; more are counted. Default: 100.
    pub findings_per_code: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { record_bytes: 512 << 20, findings_per_code: 100 }
    }
}

/// The largest window of a zstd frame, as a power of two: what a streaming decoder accepts and so
/// what the harness accepts (format v0, section 3.2).
pub const WINDOW_LOG: u32 = 27;

/// How many places of a spoiled line are tried as the start of a whole record glued into it.
pub const GLUED_TRIES: usize = 64;

/// How many places behind damage are tried as the start of a frame before the rest is given up.
pub const RESYNC_TRIES: usize = 4096;

/// How many histories of one session are told apart; records of more are put aside.
pub const HISTORIES: usize = 64;

/// How many islands of readable records behind damage are kept apart; more are joined.
pub const ISLANDS: usize = 64;

/// The longest file name segment or id that is shown whole in a message, in characters.
pub const SHOWN_CHARS: usize = 120;
