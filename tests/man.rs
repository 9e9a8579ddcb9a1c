//! The pages under `man/` are those that the program prints. `BLESS=1` writes them anew.

use assert_cmd::Command;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn print(args: &[&str]) -> String {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("dsh-log"));
    let output = command.env_clear().arg("man").args(args).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_pages_are_those_that_the_program_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    let list = print(&["--list"]);
    let mut wanted = BTreeSet::new();
    for name in list.lines() {
        let page = if name == "dsh-log" { print(&[]) } else { print(&[name]) };
        let path = folder.join(format!("{name}.1"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &page).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), page, "{name}: BLESS=1 accepts it");
        for section in
            ["NAME", "SYNOPSIS", "DESCRIPTION", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES", "EXAMPLES"]
        {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{name} has no section {section}");
        }
        wanted.insert(format!("{name}.1"));
    }
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<String> = names.filter(|name| name.ends_with(".1")).collect();
    assert_eq!(pages, wanted, "no page is left over");
}
