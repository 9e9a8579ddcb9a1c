//! The transcript as one HTML file that needs no network: its style is inside, nothing of the log
//! is let through as markup, and it is light or dark as the reader's system is.

use super::transcript_entry::{Part, Voice, entry};
use super::{Clock, Shown};
use dsh_log::view::transcript::Row;
use std::io::{self, Write};

const STYLE: &str = "\
:root{color-scheme:light dark;--bg:#fff;--fg:#1c1f23;--soft:#656d76;\
--card:#f5f6f8;--line:#d8dce1;--person:#0b62d6;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e3e6ea;--soft:#98a1ab;\
--card:#1e2228;--line:#343a42;--person:#6cb0ff;--bad:#ff8a80}}
body{margin:0 auto;max-width:56rem;padding:1rem;background:var(--bg);\
color:var(--fg);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem}h2{font-size:1.1rem;border-top:1px solid var(--line);padding-top:1rem;margin-top:2rem}
.row{margin:.8rem 0;padding-left:.8rem;border-left:3px solid var(--line)}
.person{border-color:var(--person)}.trouble{border-color:var(--bad)}.trouble .title{color:var(--bad)}
.title{font-weight:600;overflow-wrap:anywhere}.tool .title,.harness .title{font-weight:400}
.harness,.when,.remark{color:var(--soft)}.when{float:right;font-size:.8rem}.remark{font-size:.85rem;\
font-style:italic}
.prose,pre{white-space:pre-wrap;overflow-wrap:anywhere}.prose{margin:.3rem 0}
pre,.reasoning{background:var(--card);padding:.5rem;border-radius:.3rem;font-size:.85rem;margin:.3rem 0}
summary{cursor:pointer;color:var(--soft);font-size:.85rem}";

/// Writes rows as HTML.
pub(crate) struct Html<'a> {
    shown: &'a Shown,
    clock: Clock<'a>,
    turn: Option<u32>,
}

impl<'a> Html<'a> {
    /// A writer with its options and the clock that makes local time of a time.
    pub(crate) fn new(shown: &'a Shown, clock: Clock<'a>) -> Html<'a> {
        Html { shown, clock, turn: None }
    }

    /// Writes what comes before the rows.
    pub(crate) fn start(&mut self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let title = escape(&super::clean::clean_line(title));
        // No script and no fetch, even if something of the log should get through as markup.
        let policy = "default-src 'none'; style-src 'unsafe-inline'";
        writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
        writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")?;
        writeln!(out, "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>")?;
        writeln!(out, "<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>")
    }

    /// Writes one row.
    pub(crate) fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let Some(entry) = entry(row, self.shown) else { return Ok(()) };
        if row.turn.is_some() && row.turn != self.turn {
            self.turn = row.turn;
            let turn = row.turn.unwrap_or(0);
            writeln!(out, "<h2>Turn {turn}</h2>")?;
        }
        writeln!(out, "<div class=\"row {}\" data-seq=\"{}\">", class(entry.voice), row.seq)?;
        writeln!(out, "<span class=\"when\">{} · #{}</span>", escape(&(self.clock)(row.time)), row.seq)?;
        write!(out, "<span class=\"title\">{}</span>", escape(&entry.title))?;
        for remark in &entry.remarks {
            write!(out, " <span class=\"remark\">{}</span>", escape(remark))?;
        }
        writeln!(out)?;
        entry.parts.iter().try_for_each(|part| write_part(part, out))?;
        writeln!(out, "</div>")
    }

    /// Writes what comes after the rows.
    pub(crate) fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "</body>\n</html>")
    }
}

fn write_part(part: &Part, out: &mut dyn Write) -> io::Result<()> {
    match part {
        Part::Prose(text) => writeln!(out, "<div class=\"prose\">{}</div>", escape(text.trim_end())),
        Part::Line(text) => writeln!(out, "<div class=\"prose\">{}</div>", escape(text)),
        Part::Reasoning(text) => {
            let text = escape(text.trim_end());
            writeln!(
                out,
                "<details><summary>reasoning</summary><div class=\"prose reasoning\">{text}</div></details>"
            )
        }
        Part::Verbatim(name, text) => {
            let (name, text) = (escape(name), escape(text));
            // The parser takes one newline away from the start of a `pre`.
            writeln!(out, "<details><summary>{name}</summary><pre>\n{text}</pre></details>")
        }
    }
}

fn class(voice: Voice) -> &'static str {
    match voice {
        Voice::Person => "person",
        Voice::Model => "model",
        Voice::Tool => "tool",
        Voice::Harness => "harness",
        Voice::Trouble => "trouble",
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_log_is_markup() {
        assert_eq!(escape("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
    }

    #[test]
    fn the_file_is_whole_and_safe() {
        use super::super::transcript_entry::tests::{hostile, shown};
        let (shown, mut out) = (shown(super::super::Tools::Full), Vec::new());
        let mut html = Html::new(&shown, &|_| "noon".to_owned());
        html.start("a <title>", &mut out).unwrap();
        html.row(&hostile(), &mut out).unwrap();
        html.finish(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
        assert!(!text.contains("<script>") && !text.contains("http://") && !text.contains("https://"));
        assert!(text.contains("&lt;/details&gt;&lt;script&gt;") && text.contains("a &lt;title&gt;"));
    }
}
