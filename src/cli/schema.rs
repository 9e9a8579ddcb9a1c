//! `dsh-log schema`: the JSON Schema of each document that the program prints.

use super::env::Env;
use super::exit::Exit;
use super::{Outcome, examples};
use dsh_log::error::{Error, ErrorKind};
use std::io::Write;

/// Print the JSON Schema of a command's document
///
/// The dialect is 2020-12. Every member is described; others may stand beside them in later versions.
/// `error` and `finding` are what all commands share.
#[derive(clap::Args)]
#[command(after_help = examples::SCHEMA)]
pub(crate) struct Args {
    /// The document; without it the names of all are listed
    name: Option<String>,
}

/// The files, each under the name of its document.
macro_rules! schemas {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("schema/", $name, ".json")))),*] };
}

/// Every document, and its schema.
const SCHEMAS: [(&str, &str); 24] = schemas![
    "compactions" "convert" "diff" "error" "events" "exposure" "finding" "fork" "header" "inspect" "ls" "messages"
    "repair" "request" "salvage" "show" "state" "stats" "surface" "timeline" "tools" "transcript" "verify" "why"
];

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let mut out = env.out();
    let Some(name) = &args.name else {
        SCHEMAS.iter().try_for_each(|(name, _)| writeln!(out, "{name}"))?;
        return Ok(Exit::Done);
    };
    let Some((_, text)) = SCHEMAS.iter().find(|(known, _)| known == name) else {
        let error = Error::new(ErrorKind::Usage, "no-such-schema", format!("no document is called `{name}`"));
        return Err(error.hint("dsh-log schema").into());
    };
    out.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_log::fault::Severity;
    use dsh_log::json::Raw;

    fn schema(name: &str) -> Raw<'static> {
        let (_, text) = SCHEMAS.iter().find(|(known, _)| *known == name).unwrap();
        Raw::parse(text.as_bytes()).unwrap()
    }

    /// The text without what lies between tokens.
    fn dense(value: Raw<'_>) -> Vec<u8> {
        dsh_log::json::canonical::stringify(value)
    }

    #[test]
    fn what_several_documents_hold_is_described_once() {
        let finding = schema("finding");
        for holder in ["inspect", "verify"] {
            let copy = schema(holder).path(&["$defs", "finding"]).unwrap();
            for part in ["properties", "required"] {
                assert_eq!(
                    dense(copy.get(part).unwrap()),
                    dense(finding.get(part).unwrap()),
                    "{holder} {part}"
                );
            }
        }
        let shared = [("verdict", "repair"), ("verdict", "verify"), ("event", "repair"), ("event", "fork")];
        for (name, of) in shared {
            let [here, there] = ["inspect", of].map(|file| schema(file).path(&["$defs", name]).unwrap());
            assert_eq!(dense(here), dense(there), "{name} of {of}");
        }
        let [here, there] =
            ["request", "compactions"].map(|file| schema(file).path(&["$defs", "usage"]).unwrap());
        assert_eq!(dense(here), dense(there), "usage");
    }

    #[test]
    fn every_severity_is_in_the_schema() {
        let names = schema("finding").path(&["properties", "severity", "enum"]).unwrap();
        let all = [Severity::Refuses, Severity::Cuts, Severity::Warns, Severity::Notes].map(Severity::name);
        assert_eq!(names.elements().filter_map(Raw::display_text).collect::<Vec<_>>(), all);
    }

    #[test]
    fn every_member_is_described_or_refers_to_what_is() {
        for (name, _) in SCHEMAS {
            let mut open = vec![(name.to_owned(), schema(name))];
            while let Some((path, value)) = open.pop() {
                for (key, member) in value.get("properties").into_iter().flat_map(Raw::members) {
                    let told = member.get("description").or(member.get("$ref"));
                    assert!(told.is_some(), "{path}: {}", key.display_text().unwrap_or_default());
                }
                let inner = value.members().map(|(key, member)| {
                    (format!("{path}/{}", key.display_text().unwrap_or_default()), member)
                });
                open.extend(inner.filter(|(_, member)| member.is_object()));
                open.extend(value.elements().map(|member| (path.clone(), member)));
            }
        }
    }
}
