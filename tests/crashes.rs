//! A loss and a fault at every step of every writer: afterwards the log is the original or the result,
//! whole; nothing that was cut is gone; and nothing lies about that a reader takes for a log.
//!
//! The disk of these tests is the real one for whoever works on it. Beside that it keeps what would be
//! left after a loss of power: content that was synced, names in directories that were synced.

#![cfg(unix)]

mod shared;

use dsh_log::convert::{Conversion, Rows};
use dsh_log::fork::{Boundary, Child, ForkPlan};
use dsh_log::log::{Log, ReadOptions};
use dsh_log::repair::apply::Target;
use dsh_log::repair::{Diagnosis, Plan, Undo};
use dsh_log::salvage::{Given, Salvage};
use dsh_log::storage::container::Container;
use dsh_log::storage::disk::{Disk, RealDisk};
use dsh_log::storage::encode::frame;
use dsh_log::storage::layout::LogName;
use dsh_log::storage::source::Source;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is done to one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A write takes half of the bytes; any other step is done.
    Short,
    /// It fails with that error after half of it, and so does every write behind it.
    Full,
    /// It fails once with an input/output error.
    Io,
    /// It fails with a lack of permission.
    Denied,
    /// Links are not known.
    NoLinks,
    /// The name is taken just before.
    Taken,
}

const FAULTS: [Fault; 6] =
    [Fault::Short, Fault::Full, Fault::Io, Fault::Denied, Fault::NoLinks, Fault::Taken];

/// The files of a directory as they would be found after a loss of power.
#[derive(Clone, Debug, Default)]
struct Left {
    /// Content by inode: what is there, and what was synced.
    content: BTreeMap<u64, (Vec<u8>, Vec<u8>)>,
    /// Inodes by name: what is there.
    names: BTreeMap<PathBuf, u64>,
    /// The same, as far as the directory was synced.
    synced: BTreeMap<PathBuf, u64>,
}

/// How much of what was not synced is lost.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// All of it.
    Everything,
    /// Content, while names survive.
    Content,
    /// Names, while content survives.
    Names,
    /// The second half of content.
    Half,
    /// Nothing: only the process died.
    Nothing,
}

const LOSSES: [Loss; 5] = [Loss::Everything, Loss::Content, Loss::Names, Loss::Half, Loss::Nothing];

impl Left {
    fn files(&self, loss: Loss) -> BTreeMap<PathBuf, Vec<u8>> {
        let names = match loss {
            Loss::Everything | Loss::Names => &self.synced,
            _ => &self.names,
        };
        let content = |inode: &u64| {
            let (there, synced) = self.content.get(inode).cloned().unwrap_or_default();
            match loss {
                Loss::Everything | Loss::Content => synced,
                Loss::Names | Loss::Nothing => there,
                Loss::Half if there.starts_with(&synced) => {
                    there[..synced.len() + (there.len() - synced.len()) / 2].to_vec()
                }
                Loss::Half => synced,
            }
        };
        names.iter().map(|(name, inode)| (name.clone(), content(inode))).collect()
    }
}

/// The real disk, with a memory of what is durable and a fault at one step.
#[derive(Default)]
struct Twin {
    left: RefCell<Left>,
    /// What would be left after each step.
    history: RefCell<Vec<Left>>,
    fault: Option<(usize, Fault)>,
    steps: Cell<usize>,
    met: Cell<bool>,
}

impl Twin {
    /// A twin that knows the files of a directory, all of them durable.
    fn over(dir: &Path, fault: Option<(usize, Fault)>) -> Twin {
        let twin = Twin { fault, ..Twin::default() };
        let mut left = Left::default();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let inode = fs::metadata(&path).unwrap().ino();
            left.content.insert(inode, (bytes.clone(), bytes));
            left.names.insert(path.clone(), inode);
            left.synced.insert(path, inode);
        }
        twin.history.borrow_mut().push(left.clone());
        twin.left.replace(left);
        twin
    }

    /// The fault of the next step.
    fn next(&self) -> Option<Fault> {
        let n = self.steps.replace(self.steps.get() + 1);
        let (at, fault) = self.fault?;
        let met = n == at || (fault == Fault::Full && n > at);
        self.met.set(self.met.get() || n == at);
        met.then_some(fault)
    }

    /// A step other than writing: fails, or is done and remembered.
    fn step<T>(
        &self,
        name: Option<&Path>,
        done: impl FnOnce() -> io::Result<T>,
        remember: impl FnOnce(&mut Left, &T),
    ) -> io::Result<T> {
        match (self.next(), name) {
            (Some(Fault::Io), _) => return Err(io::Error::from_raw_os_error(5)),
            (Some(Fault::Denied), _) => return Err(io::Error::from_raw_os_error(13)),
            (Some(Fault::Taken), Some(name)) => {
                fs::write(name, b"taken").unwrap();
                let inode = fs::metadata(name).unwrap().ino();
                let mut left = self.left.borrow_mut();
                left.content.insert(inode, (b"taken".to_vec(), b"taken".to_vec()));
                left.names.insert(name.to_owned(), inode);
                left.synced.insert(name.to_owned(), inode);
            }
            _ => {}
        }
        let value = done()?;
        remember(&mut self.left.borrow_mut(), &value);
        self.history.borrow_mut().push(self.left.borrow().clone());
        Ok(value)
    }
}

fn inode(file: &File) -> u64 {
    file.metadata().unwrap().ino()
}

impl Disk for Twin {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.step(
            None,
            || RealDisk.create(path),
            |left, file| {
                left.content.insert(inode(file), Default::default());
                left.names.insert(path.to_owned(), inode(file));
            },
        )
    }

    fn open_to_append(&self, path: &Path) -> io::Result<File> {
        self.step(None, || RealDisk.open_to_append(path), |_, _| {})
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let (bytes, error) = match self.next() {
            Some(Fault::Short) => (&bytes[..bytes.len().div_ceil(2)], None),
            Some(Fault::Full) => (&bytes[..bytes.len() / 2], Some(28)),
            Some(Fault::Io) => (&bytes[..bytes.len() / 2], Some(5)),
            Some(Fault::Denied) => (&bytes[..0], Some(13)),
            _ => (bytes, None),
        };
        RealDisk.write(file, bytes)?;
        self.left.borrow_mut().content.entry(inode(file)).or_default().0.extend_from_slice(bytes);
        self.history.borrow_mut().push(self.left.borrow().clone());
        error.map_or(Ok(bytes.len()), |code| Err(io::Error::from_raw_os_error(code)))
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step(
            None,
            || RealDisk.sync(file),
            |left, ()| {
                let content = left.content.entry(inode(file)).or_default();
                content.1 = content.0.clone();
            },
        )
    }

    fn truncate(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.step(
            None,
            || RealDisk.truncate(file, bytes),
            |left, ()| {
                left.content.entry(inode(file)).or_default().0.truncate(bytes as usize);
            },
        )
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let no_links =
            self.fault.is_some_and(|(at, fault)| fault == Fault::NoLinks && at <= self.steps.get());
        if no_links {
            self.next();
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.step(
            Some(to),
            || RealDisk.link(from, to),
            |left, ()| {
                let inode = left.names[from];
                left.names.insert(to.to_owned(), inode);
            },
        )
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(
            None,
            || RealDisk.rename(from, to),
            |left, ()| {
                let inode = left.names.remove(from).unwrap();
                left.names.insert(to.to_owned(), inode);
            },
        )
    }

    fn rename_to_free(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(
            Some(to),
            || RealDisk.rename_to_free(from, to),
            |left, ()| {
                let inode = left.names.remove(from).unwrap();
                left.names.insert(to.to_owned(), inode);
            },
        )
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(
            None,
            || RealDisk.remove(path),
            |left, ()| {
                left.names.remove(path);
            },
        )
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        self.step(None, || RealDisk.make_dir(path), |_, ()| {})
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.step(
            None,
            || RealDisk.sync_dir(dir),
            |left, ()| {
                let here = |path: &PathBuf| path.parent() == Some(dir);
                left.synced.retain(|path, _| !here(path));
                let there: Vec<_> =
                    left.names.iter().filter(|(path, _)| here(path)).map(|(p, n)| (p.clone(), *n)).collect();
                left.synced.extend(there);
            },
        )
    }
}

/// A writer under test.
struct Case {
    name: &'static str,
    log: Vec<u8>,
    zstd: bool,
    /// A file that is there besides.
    beside: Option<(&'static str, Vec<u8>)>,
    write: fn(&Path, &Twin) -> dsh_log::error::Result<()>,
    /// Whether the log itself changes.
    in_place: bool,
    /// Whether the log grows in its place, so that a part of what is appended may be left.
    appends: bool,
}

fn options() -> ReadOptions {
    ReadOptions { threads: 1, ..ReadOptions::default() }
}

fn read(path: &Path) -> Log {
    Log::read(Source::open(path).unwrap(), &options()).unwrap()
}

fn repair(path: &Path, twin: &Twin) -> dsh_log::error::Result<()> {
    repair_to(path, twin, Target { now: 1, ..Target::default() })
}

fn repair_to(path: &Path, twin: &Twin, target: Target) -> dsh_log::error::Result<()> {
    Plan::make(Diagnosis::of(&read(path))?, true)?.apply_on(twin, &target, &options()).map(drop)
}

fn fork(path: &Path, twin: &Twin) -> dsh_log::error::Result<()> {
    let log = read(path);
    let child = Child { id: "child".into(), created_at: 5 };
    let plan = ForkPlan::make(&log, &Boundary::LastClosed, &child)?;
    plan.write_on(twin, &path.with_file_name("child"), log.container(), &options())
}

fn salvage(path: &Path, twin: &Twin) -> dsh_log::error::Result<()> {
    let made = Salvage::plan(Source::open(path)?, None, &Given::default(), &options())?;
    made.write_on(twin, &path.with_file_name("rescued"), made.container(), &options()).map(drop)
}

fn convert(path: &Path, twin: &Twin) -> dsh_log::error::Result<()> {
    let log = read(path);
    let to = if log.container() == Container::Raw { Container::Zstd } else { Container::Raw };
    Conversion::plan(&log, to, Rows::Stored)?.write_on(twin, &path.with_file_name("converted"), &options())
}

fn undo(path: &Path, twin: &Twin) -> dsh_log::error::Result<()> {
    let name = format!("{}.cut-{CUT_AT}-1", path.file_name().unwrap().to_string_lossy());
    Undo::plan(&path.with_file_name(name), None, &options())?.apply_on(twin)
}

const HEADER: &str = "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"cwd\":\"/w\",\"delegationDepth\":0}\n";
/// Where the raw log's tail is cut.
const CUT_AT: usize = HEADER.len() + START.len();
const START: &str = "{\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{\"turn\":1}}\n";
const END: &str = "{\"type\":\"turn/end\",\"seq\":1,\"time\":1,\"data\":{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}}\n";

fn cases() -> Vec<Case> {
    let frames =
        |texts: &[&str]| texts.iter().flat_map(|t| frame(t.as_bytes()).unwrap()).collect::<Vec<u8>>();
    let open = format!("{HEADER}{START}").into_bytes();
    let torn = format!("{HEADER}{START}{{\"type\":\"turn/e").into_bytes();
    let closed = format!("{HEADER}{START}{END}").into_bytes();
    let mut torn_frames = frames(&[HEADER, START, END]);
    torn_frames.truncate(torn_frames.len() - 9);
    let mut spoiled = frames(&[HEADER, START, END, START]);
    let at = spoiled.len() - frames(&[START]).len() - 3;
    spoiled[at] ^= 1;
    let case = |name, log, zstd, write, in_place, appends| Case {
        name,
        log,
        zstd,
        beside: None,
        write,
        in_place,
        appends,
    };
    let mut cases = vec![
        case("repair, raw", open.clone(), false, repair as fn(&Path, &Twin) -> _, true, true),
        case("repair, zstd", frames(&[HEADER, START]), true, repair, true, true),
        case("repair of a torn tail, raw", torn.clone(), false, repair, true, false),
        case("repair of a torn tail, zstd", torn_frames, true, repair, true, false),
        case(
            "repair of padding",
            [frames(&[HEADER, START]), vec![0; 64]].concat(),
            true,
            repair,
            true,
            false,
        ),
        case(
            "repair with a backup",
            torn.clone(),
            false,
            |path, twin| {
                let backup = Some(path.with_file_name("backup"));
                repair_to(path, twin, Target { backup, now: 1, output: None })
            },
            true,
            false,
        ),
        case(
            "repair to a new file",
            torn,
            false,
            |path, twin| {
                let output = Some(path.with_file_name("repaired"));
                repair_to(path, twin, Target { output, now: 1, backup: None })
            },
            false,
            false,
        ),
        case("fork", frames(&[HEADER, START, END]), true, fork, false, false),
        case("salvage", spoiled, true, salvage, false, false),
        case("convert to zstd", closed.clone(), false, convert, false, false),
        case("convert to raw", frames(&[HEADER, START, END]), true, convert, false, false),
    ];
    // What a repair of the torn raw log left.
    let repaired = format!("{HEADER}{START}{}", END.replace("completed", "interrupted")).into_bytes();
    let mut undone = case("undo", repaired, false, undo, true, false);
    undone.beside = Some(("cut", b"{\"type\":\"turn/e".to_vec()));
    cases.push(undone);
    cases
}

/// A fresh directory with the case's log.
fn set(case: &Case, dir: &Path) -> PathBuf {
    let path = dir.join(if case.zstd { "session.jsonl.zstd" } else { "session.jsonl" });
    fs::write(&path, &case.log).unwrap();
    if let Some((_, bytes)) = &case.beside {
        let name = format!("{}.cut-{CUT_AT}-1", path.file_name().unwrap().to_string_lossy());
        fs::write(path.with_file_name(name), bytes).unwrap();
    }
    path
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(dir: &Path) -> Files {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (PathBuf::from(path.file_name().unwrap()), fs::read(&path).unwrap())).collect()
}

/// By name alone, since each run has a directory of its own.
fn by_name(files: BTreeMap<PathBuf, Vec<u8>>) -> Files {
    files.into_iter().map(|(path, bytes)| (PathBuf::from(path.file_name().unwrap()), bytes)).collect()
}

/// What must hold of a directory whatever happened. `after` are the files of a run in which all went
/// well.
fn judge(case: &Case, found: &Files, after: &Files, what: &str) {
    let log = PathBuf::from(if case.zstd { "session.jsonl.zstd" } else { "session.jsonl" });
    let now = found.get(&log).unwrap_or_else(|| panic!("{what}: the log is gone"));
    let is_result = Some(now) == after.get(&log);
    let is_original = *now == case.log;
    if !is_original && !is_result {
        assert!(case.in_place && case.appends, "{what}: the log is neither original nor result");
        // A part of one batch behind the original: a torn tail, as a killed harness leaves it.
        assert!(
            now.starts_with(&case.log) && after[&log].starts_with(now),
            "{what}: neither, nor a torn tail"
        );
        let memory = Source::memory(log.to_str().unwrap(), now.clone());
        assert!(
            Log::read(memory, &options()).unwrap().verdict().outcome.opens(),
            "{what}: a tail that refuses"
        );
    }
    for (name, bytes) in found.iter().filter(|(name, _)| **name != log) {
        let shown = name.to_string_lossy();
        if bytes == b"taken" {
            continue;
        }
        if let Some(whole) = after.get(name) {
            assert!(bytes == whole, "{what}: {shown} is not whole");
            continue;
        }
        assert!(shown.ends_with(".tmp") && LogName::parse(&shown).is_none(), "{what}: {shown} lies about");
    }
    if is_result && !is_original {
        for name in after.keys().filter(|name| name.to_string_lossy().contains(".cut-")) {
            assert!(found.contains_key(name), "{what}: what was cut is gone");
        }
    }
}

#[test]
fn a_loss_at_any_step_leaves_the_original_or_the_result() {
    let (mut steps, mut losses) = (0, 0);
    for case in cases() {
        let dir = tempfile::tempdir().unwrap();
        let path = set(&case, dir.path());
        let twin = Twin::over(dir.path(), None);
        (case.write)(&path, &twin).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let after = files(dir.path());
        assert!(after.len() > 1 || case.appends, "{}", case.name);
        let history = twin.history.borrow();
        steps += twin.steps.get();
        for (n, left) in history.iter().enumerate() {
            for loss in LOSSES {
                losses += 1;
                let what = format!("{}, step {n} of {}, lost {loss:?}", case.name, history.len());
                judge(&case, &by_name(left.files(loss)), &after, &what);
            }
        }
        // When it is done it is durable: a loss of everything not synced changes nothing but stages.
        let end = by_name(history.last().unwrap().files(Loss::Everything));
        for (name, bytes) in &after {
            assert!(end.get(name) == Some(bytes), "{}: {} is not durable", case.name, name.display());
        }
    }
    shared::say(&format!("crashes: {} writers, {steps} steps, {losses} losses", cases().len()));
}

#[test]
fn a_fault_at_any_step_leaves_the_original_or_the_result() {
    let (mut faults, mut failed) = (0, 0);
    for case in cases() {
        let dir = tempfile::tempdir().unwrap();
        let path = set(&case, dir.path());
        let twin = Twin::over(dir.path(), None);
        (case.write)(&path, &twin).unwrap();
        let after = files(dir.path());
        for step in 0..twin.steps.get() {
            for fault in FAULTS {
                let dir = tempfile::tempdir().unwrap();
                let path = set(&case, dir.path());
                let twin = Twin::over(dir.path(), Some((step, fault)));
                let outcome = (case.write)(&path, &twin);
                let what = format!(
                    "{}, step {step}, {fault:?}: {:?}",
                    case.name,
                    outcome.as_ref().err().map(|e| e.message.clone())
                );
                assert!(twin.met.get(), "{what}: the step was not met");
                faults += 1;
                failed += usize::from(outcome.is_err());
                let found = files(dir.path());
                judge(&case, &found, &after, &what);
                if outcome.is_err() && case.appends {
                    // A failed append is cut back.
                    assert!(fs::read(&path).unwrap() == case.log, "{what}: not cut back");
                }
                if outcome.is_ok() {
                    for (name, bytes) in &after {
                        assert!(
                            found.get(name) == Some(bytes),
                            "{what}: done, and {} is not",
                            name.display()
                        );
                    }
                }
                if matches!(fault, Fault::Short | Fault::NoLinks) {
                    assert!(outcome.is_ok(), "{what}");
                }
                for loss in [Loss::Everything, Loss::Half, Loss::Content] {
                    let left = by_name(twin.left.borrow().files(loss));
                    judge(&case, &left, &after, &format!("{what}, then lost {loss:?}"));
                }
            }
        }
    }
    shared::say(&format!("crashes: {faults} faults, of which {failed} made the writer fail"));
}

/// Pseudo-random numbers that are the same in each run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

fn large_log(zstd: bool) -> Vec<u8> {
    let event = |seq: u64| {
        format!("{{\"type\":\"plan/mode\",\"seq\":{seq},\"time\":{seq},\"data\":{{\"active\":true}}}}\n")
    };
    let start = "{\"type\":\"turn/start\",\"seq\":36000,\"time\":1,\"data\":{\"turn\":1}}\n";
    let batches = (0..3000).map(|batch| (batch * 12..batch * 12 + 12).map(event).collect::<String>());
    let texts = std::iter::once(HEADER.to_owned()).chain(batches).chain([start.to_owned()]);
    let mut bytes: Vec<u8> = match zstd {
        true => texts.flat_map(|text| frame(text.as_bytes()).unwrap()).collect(),
        false => texts.flat_map(String::into_bytes).collect(),
    };
    bytes.extend(if zstd { &[0x28, 0xB5, 0x2F][..] } else { b"{\"type\":" });
    bytes
}

#[test]
fn a_process_killed_at_any_moment_leaves_the_original_or_the_result() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let rounds = 60;
    let (mut killed, mut done, mut chance) = (0, 0, Chance(7));
    for zstd in [true, false] {
        let original = large_log(zstd);
        let run = |dir: &Path| {
            let path = dir.join(if zstd { "session.jsonl.zstd" } else { "session.jsonl" });
            fs::write(&path, &original).unwrap();
            let mut command = Command::new(assert_cmd::cargo::cargo_bin!("dsh-log"));
            command
                .arg("-q")
                .arg("repair")
                .arg(&path)
                .env_clear()
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            (path, command.spawn().unwrap())
        };
        let dir = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let (path, mut child) = run(dir.path());
        assert!(child.wait().unwrap().success());
        let whole = begun.elapsed().as_micros() as u64;
        let result = fs::read(&path).unwrap();
        for round in 0..rounds / 2 {
            let dir = tempfile::tempdir().unwrap();
            let (path, mut child) = run(dir.path());
            std::thread::sleep(Duration::from_micros(chance.next() % (whole * 11 / 10)));
            let _ = child.kill();
            let ended = child.wait().unwrap();
            killed += usize::from(!ended.success());
            let now = fs::read(&path).unwrap();
            assert!(now == original || now == result, "round {round}: {} bytes", now.len());
            done += usize::from(now == result);
            for (name, bytes) in files(dir.path()) {
                let shown = name.to_string_lossy();
                let cut = shown.contains(".cut-");
                let known = path.file_name() == Some(name.as_os_str()) || cut || shown.ends_with(".tmp");
                assert!(known, "round {round}: {shown} lies about");
                assert!(
                    !cut || shown.ends_with(".tmp") || !bytes.is_empty(),
                    "round {round}: {shown} is empty"
                );
            }
        }
    }
    shared::say(&format!("crashes: {rounds} rounds, killed in {killed}, the result was there in {done}"));
}
