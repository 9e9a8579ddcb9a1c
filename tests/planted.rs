//! Planted facts: sessions in which it is known which tool result an answer comes from, with results
//! that look like it, and answers that come from nowhere. `why` is held against two baselines.

mod planted_sessions;
mod shared;

use dsh_log::evidence::{target, why};
use dsh_log::log::{Log, ReadOptions};
use dsh_log::seq::Seq;
use dsh_log::storage::source::Source;
use planted_sessions::{Dice, Planted, Way, session};
use std::collections::{BTreeMap, HashMap, HashSet};

fn ask(planted: &Planted) -> why::Why {
    let source = Source::memory("session.jsonl", planted.text.clone());
    let log = Log::read(source, &ReadOptions::default()).unwrap();
    assert!(log.verdict().outcome.opens(), "{:?}", log.verdict());
    why::ask(&log, target::at(&log, Seq(planted.answer)).unwrap()).unwrap()
}

fn terms(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The result that BM25 (k1 1.2, b 0.75) puts first.
fn bm25(planted: &Planted) -> Option<u64> {
    let documents: Vec<(u64, Vec<String>)> =
        planted.results.iter().map(|(seq, text)| (*seq, terms(text))).collect();
    let average = documents.iter().map(|d| d.1.len()).sum::<usize>() as f64 / documents.len().max(1) as f64;
    let mut with: HashMap<&str, f64> = HashMap::new();
    for (_, words) in &documents {
        for word in words.iter().map(String::as_str).collect::<HashSet<_>>() {
            *with.entry(word).or_default() += 1.0;
        }
    }
    let query: HashSet<String> = terms(&planted.answer_text).into_iter().collect();
    let score = |words: &[String]| -> f64 {
        let mut sum = 0.0;
        for word in &query {
            let tf = words.iter().filter(|w| *w == word).count() as f64;
            let n = with.get(word.as_str()).copied().unwrap_or_default();
            let idf = (1.0 + (documents.len() as f64 - n + 0.5) / (n + 0.5)).ln();
            sum += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * words.len() as f64 / average));
        }
        sum
    };
    documents
        .iter()
        .map(|(seq, words)| (*seq, score(words)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(seq, _)| seq)
}

fn sizes() -> impl Iterator<Item = (u64, usize)> {
    let mut dice = Dice::new(7);
    let steps = [5, 8, 13, 21, 40, 80, 160, 400];
    (0..240_u64).map(move |seed| (seed + 1, steps[seed as usize % 8].max(5) + dice.below(3)))
}

#[test]
fn the_source_of_an_answer_is_found_and_better_than_by_nearness_or_bm25() {
    let (mut asked, mut right, mut supported, mut nearest, mut by_words) = (0, 0, 0, 0, 0);
    let mut missed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (seed, count) in sizes() {
        let way = [Way::Direct, Way::Direct, Way::Compacted, Way::Inherited][seed as usize % 4];
        let planted = session(seed, count, way);
        let why = ask(&planted);
        asked += 1;
        let first = why.evidence.first();
        if first.map(|e| e.seq) == planted.source {
            right += 1;
            assert_eq!(first.map(|e| e.inherited), Some(way == Way::Inherited));
            assert_eq!(
                first.map(|e| e.strength.name()),
                Some(if way == Way::Compacted { "shadowed" } else { "shared-text" })
            );
        } else {
            let found = first.map(|e| (e.seq, e.score, e.spans.first().map(|s| s.quote.clone())));
            missed
                .entry(planted.family)
                .or_default()
                .push(format!("{seed}/{count} {way:?} {:?} not {found:?}", planted.source));
        }
        supported += usize::from(why.supported);
        nearest += usize::from(planted.results.last().map(|r| r.0) == planted.source);
        by_words += usize::from(bm25(&planted) == planted.source);
    }
    let percent = |n: usize| 100.0 * n as f64 / asked as f64;
    shared::say(&format!(
        "planted facts, {asked} sessions of 5 to 402 results: why {:.1} % first ({:.1} % supported), BM25 {:.1} %, nearest {:.1} %",
        percent(right),
        percent(supported),
        percent(by_words),
        percent(nearest)
    ));
    assert!(percent(right) >= 95.0, "{missed:#?}");
    assert!(percent(supported) >= 95.0 && right > by_words && right > nearest, "{missed:#?}");
}

#[test]
fn nothing_supports_an_answer_that_comes_from_nowhere() {
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (seed, count) in sizes() {
        let way = [Way::NoSource, Way::Paraphrase, Way::OnlyInParent][seed as usize % 3];
        let planted = session(seed + 10_000, count, way);
        let why = ask(&planted);
        asked += 1;
        if let Some(e) = why.evidence.iter().find(|e| e.supports) {
            let quotes: Vec<&str> = e.spans.iter().map(|s| s.quote.as_str()).collect();
            wrong.push(format!(
                "{seed}/{count} {way:?} {} {:.2} {quotes:?}: {}",
                planted.family, e.score, planted.answer_text
            ));
        }
    }
    shared::say(&format!("controls without a source: {} of {asked} unsupported", asked - wrong.len()));
    assert!(wrong.is_empty(), "{wrong:#?}");
}
