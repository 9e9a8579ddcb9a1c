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
  dsh-log repair --backup 5d0c         repair it, keeping a copy as it was";

/// Of `fork`.
pub(crate) const FORK: &str = "\
Examples:
  dsh-log fork --list 5d0c             where it can be cut
  dsh-log fork 5d0c --boundary 316     a new session under the root
  dsh-log fork 5d0c --output child.jsonl.zstd";
