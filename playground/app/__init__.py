"""Modules that only the app needs: the parts of its pages, its state, its launch.

How a page runs
---------------
Streamlit runs `main.py` from top to bottom for every action of the user: `main.py` draws the bar
and runs one script of `pages/`. A script is its page's table of contents: it reads choices from
widgets, asks one pure function for an answer, and draws the answer. The functions that it calls are
in the file of the same name here (`pages/cache.py` calls `app/cache.py`); parts of several pages
are in `shared/`; `pages.py` lists all pages; `serving/` starts the app and guards it. A view of a
page has no script: the page calls the view's `show(row)`, and `row` holds the page's controls. A
callback (`on_click=…`, `on_change=…`) runs before the script: only there can code set a widget.

Where choices live
------------------
A choice that selects what the page shows lives in the URL: `bind="query-params"` ties a widget to a
parameter, so that a copied link shows the same view. The user's own texts (imported files, edits,
policies, recordings) live in the state of the browser's session. Only `state.py` reads and writes
the URL and the state; a change of page may also set the URL. The state holds plain values, and no
objects of our classes: when a source file is reloaded, its classes are new, and older objects do
not belong to them. Hence a session is stored as its file and its edits, and built from these in
every run. The same edits always give the same object.

How imports work
----------------
All imports go through `shared/bring.py`: one box, in a dialog on every page, and directly on the
first page. The component sends its text with a number; a callback recognises the text
(`questions/recognition.py`) before the run draws anything, and the answer is shown only under the
text of that number. A button's callback makes a session of the text, or adds it to the chosen
session. A callback cannot leave the page, so it names a target, and `bring.go_to_target`, called by
`main.py`, goes there before any widget is bound to the URL.

Caches, components and threads
------------------------------
`@memoized` (`shared/memoized.py`) caches answers between runs and between browsers, by the content
of the arguments. A session is hashed once for each object, so pass the session itself as the
argument. Answers are shared: never change one. A component gets a `Picture`, whose key follows from
its data. The browser leaves a picture with the same key unchanged, at the same scroll position.
Work that needs LiteLLM, which takes seconds to load, goes to `waiting.background()` as a future,
and the page waits with `waiting.until`. A live run is a thread that outlasts many runs of the page:
`shared/runs.py` holds it by an id, and the browser's session knows the id.

What not to do
--------------
- A cache's key made by hand, such as a digest passed along with its value: `@memoized` makes keys.
- A fragment that polls (`run_every`), or `st.rerun` while something loads: a run that starts can
  drop a file that is being uploaded. Waiting inside the run cannot (`shared/waiting.py`).
- Text of a session as Markdown or HTML: not in a label, not in `st.write`, `st.error` or the like.
  `st.text`, data frames and the components' `textContent` show the text unchanged.
- `st.code`: its highlighter delays the page. `components.verbatim` shows a text and copies it.
- Drawing the body of a folded part: check `.open` of the tab or expander first.
- A widget whose options change under one key: it keeps a value that is no longer an option. Make
  a key that changes with the options.
"""
