//! What colours and weights mean; nothing is added where they are off.

use owo_colors::OwoColorize;

/// Styles by meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    on: bool,
}

impl Style {
    /// With or without colours.
    pub(crate) fn new(on: bool) -> Style {
        Style { on }
    }

    fn with(self, text: &str, styled: impl FnOnce(&str) -> String) -> String {
        if self.on { styled(text) } else { text.to_owned() }
    }

    /// All is well.
    pub(crate) fn good(self, text: &str) -> String {
        self.with(text, |text| text.green().to_string())
    }

    /// Something is wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with(text, |text| text.red().bold().to_string())
    }

    /// Something should be looked at.
    pub(crate) fn warn(self, text: &str) -> String {
        self.with(text, |text| text.yellow().bold().to_string())
    }

    /// Beside the point.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with(text, |text| text.dimmed().to_string())
    }

    /// The point.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with(text, |text| text.bold().to_string())
    }

    /// The names of columns and sections.
    pub(crate) fn heading(self, text: &str) -> String {
        self.with(text, |text| text.bold().underline().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_added_where_colour_is_off() {
        let (off, on) = (Style::new(false), Style::new(true));
        assert_eq!(off.bad("x"), "x");
        assert_eq!(on.good("x"), "\u{1b}[32mx\u{1b}[39m");
    }
}
