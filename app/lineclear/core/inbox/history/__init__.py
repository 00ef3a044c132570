"""The history: every decision and outcome that was observed, chained so that changes show.

A window uses it so:

- one `recorder.Recorder(told, days=settings.history_days, sources=…)` per window: `start`, every
  diff of the feed to `observe`, `keep(days)` when the setting changes, `stop` at the end. TOLD is
  called in the recorder's thread with rows that were added and sentences for the operator.
- one `screen_clock.ScreenClock`, told of each change of window, tab, call and of input.
- just before a decision, where it is given (never in the window's thread):
  `verdict = replace(verdict, shown=Sight("window", tab, end_seen=…, seconds=clock.seconds(now),
  warnings=…).shown())`, then `recorder.intend(verdict.nonce)`, then `deciding.decide`. What was
  seen travels in the decision, so a colleague's history knows it too.
- the page reads through one `search.Search.open()` in a thread of its own: `page`, `count`,
  `pivot`, `call`; `interrupt` when the line changed meanwhile; `query.parse_query` reads the line.
- `chain.verify().sentence` is the line under the page; `exporting.export(search.every(query), …)`
  writes a file; `writing.History.open().merge(path)` takes another history in.
"""
