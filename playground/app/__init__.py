"""Parts that only the app needs: its pages' parts, its state, its launch.

How a page runs
---------------
Streamlit runs `main.py` from top to bottom for every move of the user: it draws the bar and runs
one script of `pages/`. Such a script is the page's table of contents: it reads choices from
widgets, asks one pure function for an answer, draws it. What stands behind its lines is in the file
of the same name here (`pages/cache.py`, `app/cache.py`); what several pages need is in `shared/`;
the list of all pages is `pages.py`; `serving/` starts the app and guards it. A view of a page has
no script: the page calls `show(row)` of its parts, and `row` holds the page's controls. A callback
(`on_click=…`, `on_change=…`) runs before the script: the only moment at which a widget's value may
be set by somebody but the user.

Where choices live
------------------
In the URL, if they say what is looked at: `bind="query-params"` ties a widget to a parameter, so
that a copied link shows the same view. In the browser session's state, if they are the user's own
text: what was brought, edits, policies, recordings. Only `state.py` touches either, and it keeps
plain values (bytes, texts, dicts), no objects of ours: a source file that is reloaded makes a new
class, and an object of the old one is then no instance of it. Hence a session is stored as its file
and its edits, and built from them in every run: always the same object for the same edits.

How things come in
------------------
By `shared/bring.py` alone: one box, in a dialog on every page and open on the first. The component
sends its text with a number; a callback recognises it (`questions/recognition.py`) before the run
draws anything, and the answer is shown only under the text of the same number. A button's callback
makes a session of it, or puts it into the chosen one. A callback cannot leave the page: it names a
target, and `go_on` in `app.py` goes there before any widget is bound to the address.

What keeps what
---------------
`@memoized` (`shared/memoized.py`) keeps answers between runs and between browsers, by the content
of the arguments. Sessions are hashed once for each object, so pass the session itself and let the
key follow from it. Answers are shared: change none. A component gets a `Picture`, whose key follows
from what it shows; what has the same key stays as it is in the browser, with the place that was
scrolled to. What needs LiteLLM, which takes seconds to load, goes to `waiting.background()` as a
future, and the page waits with `waiting.until`. A live run is a thread that outlasts many runs of
the page: it stands in a dict by an id, and the browser's session knows the id.

What must not be done
---------------------
- A key by hand: a digest that is carried beside its value, an argument with an underscore.
- A fragment that polls (`run_every`), or `st.rerun` while something loads: a run that starts can
  drop a file that is being uploaded. Waiting inside the run cannot (`shared/waiting.py`).
- Text of a session as Markdown or HTML: not in a label, not in `st.write`, `st.error` or the like.
  `st.text`, data frames and the components' `textContent` show it as it is.
- `st.code`: its highlighter holds the page up. `components.verbatim` shows a text and copies it.
- A body that is drawn although it is folded: ask `.open` of a tab or an expander first.
- A widget whose options change under one key: it keeps a value that is no longer among them. Put
  what the options depend on into the key.
"""
