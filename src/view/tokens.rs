//! Token counts as an adapter reports them (v0 section 8.4).

use crate::json::Raw;
use crate::json::write::Object;

/// Tokens of one call, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by the model and not from a cache.
    pub input: u64,
    /// Written by the model, reasoning included.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Read and put into a cache.
    pub cache_write: u64,
    /// How many of the output were reasoning: informational, never added to a total.
    pub reasoning: u64,
}

impl Tokens {
    /// Reads a usage object; what is absent or no count is 0.
    #[must_use]
    pub fn of(usage: Raw<'_>) -> Tokens {
        let names = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"];
        let [input, output, cache_read, cache_write, reasoning] =
            usage.get_all(names).map(|value| value.and_then(Raw::count).unwrap_or(0));
        Tokens { input, output, cache_read, cache_write, reasoning }
    }

    /// Adds another count, stopping at the largest number there is.
    pub fn add(&mut self, more: Tokens) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
    }

    /// All that the model read: what is billed as input, at whatever rates.
    #[must_use]
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// All that was read and written; reasoning is a part of the output.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// Adds the five counts to a document.
    #[must_use]
    pub fn describe(&self, out: Object) -> Object {
        out.int("inputTokens", self.input)
            .int("outputTokens", self.output)
            .int("cacheReadTokens", self.cache_read)
            .int("cacheWriteTokens", self.cache_write)
            .int("reasoningTokens", self.reasoning)
    }
}
