//! The examples of help and manual, in one place so that both say the same.

/// What comes before the examples in help; the manual has a heading of its own.
pub(crate) const HEADING: &str = "Examples:\n";

/// Of the program.
pub(crate) const MAIN: &str = "\
Examples:
  dsh-log ls                           the sessions, newest first
  dsh-log transcript @latest           what was said and done in the newest one
  dsh-log messages session.jsonl.zstd  what the model has of it now";

/// Of `ls`.
pub(crate) const LS: &str = "\
Examples:
  dsh-log ls --limit 10                the ten that changed last
  dsh-log ls --project app             those whose directory has `app` in it
  dsh-log ls --ndjson --sort size      one JSON object a line, the largest first";

/// Of `messages`.
pub(crate) const MESSAGES: &str = "\
Examples:
  dsh-log messages @latest             the messages that the model has now
  dsh-log messages 5d0c --at 1200      as they were after event 1200
  dsh-log messages - --format ndjson   of a log on standard input, one message a line";

/// Of `transcript`.
pub(crate) const TRANSCRIPT: &str = "\
Examples:
  dsh-log transcript @latest --turn 3..5            three turns of the newest session
  dsh-log transcript 5d0c --format html --tools full > session.html
  dsh-log transcript session.jsonl --ndjson         one row a line";

/// Of `schema`.
pub(crate) const SCHEMA: &str = "\
Examples:
  dsh-log schema                       the names of the documents
  dsh-log schema inspect > inspect.schema.json
  dsh-log schema error | jq .properties.error.properties";

/// Of `completions`.
pub(crate) const COMPLETIONS: &str = "\
Examples:
  dsh-log completions bash > ~/.local/share/bash-completion/completions/dsh-log
  dsh-log completions fish > ~/.config/fish/completions/dsh-log.fish";

/// Of `inspect`.
pub(crate) const INSPECT: &str = "\
Examples:
  dsh-log inspect @latest              is it sound, where did it stop
  dsh-log inspect session.jsonl --json | jq .verdict
  dsh-log inspect 5d0c --events        and every event, closers included";

/// Of `surface`.
pub(crate) const SURFACE: &str = "\
Examples:
  dsh-log surface @latest              what the model reads now
  dsh-log surface 5d0c --at 1200       what it read after event 1200
  dsh-log surface 5d0c --history       what was replaced by what";

/// Of `header`.
pub(crate) const HEADER: &str = "\
Examples:
  dsh-log header @latest               model, settings, system prompt, tools
  dsh-log header 5d0c --request 3.2    those of one request
  dsh-log header 5d0c --history        each change, the prompt's as a diff";

/// Of `repair`.
pub(crate) const REPAIR: &str = "\
Examples:
  dsh-log repair --dry-run @latest     what would be cut and appended
  dsh-log repair --check session.jsonl.zstd && echo sound
  dsh-log repair --backup 5d0c         repair it, keeping a copy as it was
  dsh-log repair --dry-run --json 5d0c > plan && dsh-log repair --plan plan
  dsh-log repair --undo session.jsonl.zstd.cut-4711-1772366400000

The bytes that a repair cuts are kept in LOG.cut-BYTE-TIME; --undo puts them back.";

/// Of `fork`.
pub(crate) const FORK: &str = "\
Examples:
  dsh-log fork --list 5d0c             where it can be cut
  dsh-log fork 5d0c --boundary 316     a new session under the root
  dsh-log fork 5d0c --output child.jsonl.zstd";

/// Of `why`.
pub(crate) const WHY: &str = "\
Examples:
  dsh-log why @latest 1309              what that message was based on
  dsh-log why 5d0c --text '37 retries'  the last message that says so
  dsh-log why 5d0c 1309 --graph dot | dot -Tsvg > why.svg";

/// Of `verify`.
pub(crate) const VERIFY: &str = "\
Examples:
  dsh-log verify @latest                every rule, all findings
  dsh-log verify --all --root sessions  one line a session
  dsh-log verify 5d0c --target v4       and what the upgrade would refuse";

/// Of `exposure`.
pub(crate) const EXPOSURE: &str = "\
Examples:
  dsh-log exposure 5d0c 1200           which requests had that event, and what of it later
  dsh-log exposure 5d0c --text 'AKIA12' --forks
  dsh-log exposure 5d0c 1200 --json | jq .sessions";

/// Of `diff`.
pub(crate) const DIFF: &str = "\
Examples:
  dsh-log diff 5d0c 77ab               where two forks part, and what each did
  dsh-log diff old.jsonl new.jsonl --all
  dsh-log diff 5d0c 77ab --json | jq '.moves[] | select(.how != \"same\")'";

/// Of `request`.
pub(crate) const REQUEST: &str = "\
Examples:
  dsh-log request @latest --list       every request with its tokens and outcome
  dsh-log request 5d0c 3.2             what was sent, and what a cache could reuse
  dsh-log request 5d0c 3.2 --diff 1.1 --json | jq .previous.prefixBytes";

/// Of `show`.
pub(crate) const SHOW: &str = "\
Examples:
  dsh-log show @latest 316             one event, and what became of it
  dsh-log show session.jsonl 4 --raw   its stored line";

/// Of `events`.
pub(crate) const EVENTS: &str = "\
Examples:
  dsh-log events @latest --type 'tool/*' --turn 3
  dsh-log events 5d0c --grep 'terraform apply' --table
  dsh-log events session.jsonl --seq 100..200 --expand | jq .type";

/// Of `tools`.
pub(crate) const TOOLS: &str = "\
Examples:
  dsh-log tools @latest                every call and what became of it
  dsh-log tools 5d0c --failed          those that went wrong
  dsh-log tools 5d0c --totals          calls, failures and times of each tool";

/// Of `timeline`.
pub(crate) const TIMELINE: &str = "\
Examples:
  dsh-log timeline @latest --turn 3    where the time of one turn went
  dsh-log timeline 5d0c --totals       the sums";

/// Of `stats`.
pub(crate) const STATS: &str = "\
Examples:
  dsh-log stats @latest                tokens, requests, tools
  dsh-log stats --all --by day         what every day cost
  dsh-log stats 5d0c --by model --csv > cost.csv";

/// Of `state`.
pub(crate) const STATE: &str = "\
Examples:
  dsh-log state @latest                todo list, modes, goal, inbox
  dsh-log state 5d0c --at 316          as they were after event 316";

/// Of `compactions`.
pub(crate) const COMPACTIONS: &str = "\
Examples:
  dsh-log compactions @latest           what each replaced, and what was done again
  dsh-log compactions 5d0c --summaries  the whole of each summary";

/// Of `salvage`.
pub(crate) const SALVAGE: &str = "\
Examples:
  dsh-log salvage --dry-run 5d0c       what could be rescued, and what not
  dsh-log salvage session.jsonl.zstd -o rescued/
  dsh-log salvage 5d0c --keep A -o rescued.jsonl.zstd";

/// Of `convert`.
pub(crate) const CONVERT: &str = "\
Examples:
  dsh-log convert 5d0c --to raw -o session.jsonl
  dsh-log convert session.jsonl -o session.jsonl.zstd --rows packed
  dsh-log convert @latest --rows expanded --dry-run";

#[cfg(test)]
mod tests {
    use crate::cli::definition;

    /// The words of the program's part of an example, as a shell would take them; what explains it
    /// stands behind two blanks.
    fn words(line: &str) -> Vec<String> {
        let Some(start) = line.find("dsh-log ") else { return Vec::new() };
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for c in line[start..].chars() {
            match (c, quote) {
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                (' ', None) if word.is_empty() => break,
                (' ', None) => words.push(std::mem::take(&mut word)),
                ('|' | '>' | '&' | ';', None) if word.is_empty() => break,
                _ => word.push(c),
            }
        }
        words.extend(Some(word).filter(|word| !word.is_empty()));
        words
    }

    #[test]
    fn the_words_of_an_example_end_where_it_is_explained_or_goes_on() {
        for (line, wanted) in [
            ("dsh-log ls --limit 10      the ten", &["dsh-log", "ls", "--limit", "10"][..]),
            ("dsh-log header a | jq .x", &["dsh-log", "header", "a"]),
            ("cat a | dsh-log messages - > b", &["dsh-log", "messages", "-"]),
            ("dsh-log fork 'a b' && echo", &["dsh-log", "fork", "a b"]),
        ] {
            assert_eq!(words(line), wanted, "{line}");
        }
    }

    #[test]
    fn every_example_of_help_is_understood_by_the_program() {
        let mut program = definition();
        program.build();
        let mut count = 0;
        for page in program.get_subcommands().chain([&program]).filter(|page| page.get_name() != "help") {
            let Some(help) = page.get_after_help().map(ToString::to_string) else {
                assert!(page.is_hide_set(), "{} has no examples", page.get_name());
                continue;
            };
            for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
                if let Err(e) = definition().try_get_matches_from(words(line)) {
                    panic!("{line}\n{e}");
                }
                count += 1;
            }
        }
        assert!(count > 20, "only {count} examples were found");
    }
}
