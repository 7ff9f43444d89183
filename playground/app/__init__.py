"""Modules that only the app needs: the parts of its pages, its state, its launch.

How a page runs --------------- Streamlit runs `main.py` from top to bottom for every action of the
user: `main.py` draws the bar and runs one script of `pages/`. A script is its page's table of
contents: it reads choices from widgets, asks one pure function for an answer, and draws the answer.
The functions that it calls are in the file of the same name here (`pages/cache.py`,
`app/cache.py`); parts of several pages are in `shared/`; the list of all pages is `pages.py`;
`serving/` starts the app and guards it. A view of a page has no script: the page calls the view's
`show(row)`, and `row` holds the page's controls. A callback (`on_click=…`, `on_change=…`) runs
before the script: only there can code set the value of a widget.

Where choices live ------------------ In the URL, if they select what the page shows:
`bind="query-params"` ties a widget to a parameter, so that a copied link shows the same view. In
the browser session's state, if they are the user's own text: imported files, edits, policies,
recordings. Only `state.py` reads and writes the URL and the state. It stores plain values (bytes,
texts, dicts), no objects of our classes: when a source file is reloaded, its classes are new, and
older objects are no instances of them. Hence a session is stored as its file and its edits, and
built from these in every run. The same edits always give the same object.

How imports work ---------------- All imports go through `shared/bring.py`: one box, in a dialog on
every page, and directly on the first page. The component sends its text with a number; a callback
recognises it (`questions/recognition.py`) before the run draws anything, and the answer is shown
only under the text of the same number. A button's callback makes a session of the text, or adds the
text to the chosen session. A callback cannot leave the page: it names a target, and
`bring.go_to_target`, called by `main.py`, goes there before any widget is bound to the address.

Caches, components and threads ------------------------------ `@memoized` (`shared/memoized.py`)
caches answers between runs and between browsers, by the content of the arguments. A session is
hashed once for each object, so pass the session itself and let the key follow from it. Answers are
shared: never change one. A component gets a `Picture`, whose key follows from its data. The browser
leaves a picture with the same key unchanged, at the same scroll position. Work that needs LiteLLM,
which takes seconds to load, goes to `waiting.background()` as a future, and the page waits with
`waiting.until`. A live run is a thread that outlasts many runs of the page: `shared/runs.py` holds
it by an id, and the browser's session knows the id.

What not to do
--------------
- A key made by hand: a digest passed along with its value, an argument with an underscore.
- A fragment that polls (`run_every`), or `st.rerun` while something loads: a run that starts can
  drop a file that is being uploaded. Waiting inside the run cannot (`shared/waiting.py`).
- Text of a session as Markdown or HTML: not in a label, not in `st.write`, `st.error` or the like.
  `st.text`, data frames and the components' `textContent` show the text unchanged.
- `st.code`: its highlighter delays the page. `components.verbatim` shows a text and copies it.
- Drawing the body of a folded part: check `.open` of the tab or expander first.
- A widget whose options change under one key: it keeps a value that is no longer an option. Put
  what the options depend on into the key.
"""
