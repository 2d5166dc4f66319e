//! A Jupyter notebook of a run: the raw data inside, full distributions, the slowest calls, and the volumes in place.

use serde_json::{Value, json};

use super::measured::Measured;
use crate::harness::Record;
use crate::latencies::Latencies;
use crate::outcome::Outcome;

/// The notebook, not yet executed.
///
/// Shape: a document of nbformat 4. It needs pandas and matplotlib, and no file.
pub fn notebook(measured: &Measured) -> Outcome<String> {
    let run = &measured.results.run;
    let figures = figures(measured)?;
    let cells = [
        markdown(format!(
            "# {}\n\n{}\n\nRun of {}. All figures were measured on one machine, in one run, in turn. Run it again by:\n\n    {}",
            run.title, run.text, run.started, run.command
        )),
        code(format!(
            "import json\nimport pandas as pd\nimport matplotlib.pyplot as plt\n\n\
             figures = pd.DataFrame(json.loads({}))\n\
             environment = pd.DataFrame(json.loads({}), columns=['what', 'found'])\nenvironment",
            python_text(&serde_json::to_string(&figures)?),
            python_text(&serde_json::to_string(&run.environment)?)
        )),
        markdown("## Volumes in place\n\nRows, volumes and systems that were measured, and how often.".into()),
        code("figures.pivot_table(index=['row', 'volume'], columns='target', values='value', aggfunc='count', sort=False)".into()),
        markdown("## Medians\n\nIn the unit of the row.".into()),
        code("figures.pivot_table(index=['row', 'unit', 'volume'], columns='target', values='value', aggfunc='median', sort=False)".into()),
        markdown("## What has no figure, and why".into()),
        code("figures[figures['state'].notna()][['row', 'volume', 'target', 'repeat', 'state']]".into()),
        markdown(
            "## Full distributions\n\nEach line is the latency that a share of the operations does not exceed, outliers included.".into(),
        ),
        code(
            "latencies = figures[figures['latencies'].map(len) > 0]\n\
             for (row, volume), group in latencies.groupby(['row', 'volume'], sort=False):\n    \
                 fig, axes = plt.subplots(figsize=(7, 3))\n    \
                 for target, own in group.groupby('target', sort=False):\n        \
                     counts = pd.Series(dtype=float)\n        \
                     for pairs in own['latencies']:\n            \
                         counts = counts.add(pd.Series({ns / 1e6: count for ns, count in pairs}), fill_value=0)\n        \
                     counts = counts.sort_index()\n        \
                     axes.step(counts.index, counts.cumsum() / counts.sum(), where='post', label=target)\n    \
                 axes.set(xscale='log', xlabel='latency, ms', ylabel='share of the operations', title=f'{row} at {volume}')\n    \
                 axes.legend()\n    \
                 plt.show()"
                .into(),
        ),
        markdown("## Slowest calls\n\nThe ten longest latencies of each system.".into()),
        code(
            "calls = [(target, row, volume, repeat, ns / 1e6, count)\n         \
                 for target, row, volume, repeat, pairs in zip(*(figures[name] for name in ['target', 'row', 'volume', 'repeat', 'latencies']))\n         \
                 for ns, count in pairs]\n\
             calls = pd.DataFrame(calls, columns=['target', 'row', 'volume', 'repeat', 'ms', 'operations'])\n\
             calls.sort_values('ms', ascending=False).groupby('target', sort=False).head(10)"
                .into(),
        ),
    ];
    let notebook = json!({
        "cells": cells,
        "metadata": { "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" } },
        "nbformat": 4,
        "nbformat_minor": 5,
    });
    Ok(serde_json::to_string_pretty(&notebook)?)
}

/// Every figure of every repeat, with its latencies.
fn figures(measured: &Measured) -> Outcome<Vec<Value>> {
    let run = &measured.results.run;
    let unit = |name: &str| run.rows.iter().find(|row| row.name == name).map(|row| row.unit.as_str());
    let mut figures = Vec::new();
    for record in &measured.results.records {
        let Record::Figure(figure) = record else { continue };
        let latencies = figure.histogram.as_deref().map(Latencies::decode).transpose()?;
        figures.push(json!({
            "row": figure.row,
            "unit": unit(&figure.row),
            "volume": figure.volume,
            "target": figure.target,
            "repeat": figure.repeat,
            "value": figure.value,
            "state": figure.state,
            "latencies": latencies.map(|latencies| latencies.counts()).unwrap_or_default(),
        }));
    }
    Ok(figures)
}

fn markdown(text: String) -> Value {
    json!({ "cell_type": "markdown", "id": id(&text), "metadata": {}, "source": text })
}

fn code(text: String) -> Value {
    json!({
        "cell_type": "code", "id": id(&text), "metadata": {}, "execution_count": null, "outputs": [], "source": text,
    })
}

/// An id that follows from the text, as nbformat 4.5 wants one.
fn id(text: &str) -> String {
    let sum = text
        .bytes()
        .fold(0u64, |sum, byte| crate::graph::mix(sum.wrapping_add(u64::from(byte)).wrapping_add(1)));
    format!("{sum:016x}")
}

/// A text as Python writes it: JSON is a form of it, except that a lone surrogate cannot occur.
fn python_text(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
