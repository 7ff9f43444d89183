"""An introduction to reading a reply, for those who change this room for the first time.

A dialect declares a call's text form once, as templates with holes (`Syntax`). rendering.py fills
the holes. Reading is harder: the text comes in chunks that are cut anywhere, most of it is prose
that only looks like markup here and there, and some of it is markup that the model got wrong.
Each chunk must give at once the events that it can give, and the events must be the same however
the text was cut.

The words

A *template* is a row of *pieces*: literals, and holes for a name or a body (template.py). A
*declaration* is all the templates and flags of one call form (declaration.py). A *syntax* is a
declaration that was checked (syntax.py).

A *notation* is how the body of a call is written: JSON, Python keyword arguments, parameters …
(notations/). It writes the body and reads it; it says how a body begins (`announce`) and what may
come inside it (`choice_points`). The rest of the room works with any notation.

A *choice* is a pattern of one thing that may come: the opener of a call, a stop token, a code
fence. Its *kind* says how to go on; its *number* says to which form or pair of tags it belongs
(choice.py).

A *choice point* is a place where the reader may stand, with all the choices that may come there
(choice_point.py). Its `candidate_pattern` finds candidates: it searches for the first characters
of each choice (five at most), or for a beginning of them at the end of the text. At the candidate
`match` tries the choices that may begin there one after another; the first that matches wins. A
choice may match *partially*: the text so far is its beginning, and its end is still to come. A
complete match of a later choice wins over a partial one. A match becomes a *marker* (marker.py),
which is remembered for all streams, because every call has the same markers.

A *varying* choice is one whose match at the end of the text could change if more text came: three
back-ticks may be a fence of four, `<|end` is the beginning of `<|end|>`, blanks after a name go
on. Such a match is held like a partial one, although it is complete. Only the choice that matched
and those before it can still match differently (`_rivals`), because the first that matches wins.

A *form* is one syntax compiled to choice points (form.py, form_builder.py). A dialect has one for
the syntax that it writes and one for each other syntax that it reads. A *plan* is all forms
and the choices outside of calls (plan.py), compiled once for a dialect and a set of tools.

The *scanner* owns the text that nobody has claimed yet (scanner.py). To *claim* characters is to
make an event of them (claims.py); `Scanner.take_text` is the only way to do it, and it only goes
forward. Text that could still become a marker is *held*: neither claimed nor emitted.

A *draft* is a call in open reasoning (drafts.py). If the reasoning is closed after the call, the
call belongs to the thought; otherwise it is delivered. So a draft's events are held back until the
reasoning is closed, new reasoning begins or the turn ends, and the fast path (fast_path.py) skips
none of its chunks. If a draft breaks off and contains the reasoning's closer, reading goes back to
the closer, eight times at most.

The readers are generators; together they are the *walk*. To get more text they `yield`; the next
chunk resumes them in the middle of whatever they were doing. So the state of the reading is the
place in the code, without a separate table of states.

A reply, chunk by chunk

Take Syntax(call="<call {name}>{params}</call>", param="<{key}>{value}</{key}>") and these 58
characters, as they might arrive:

    'If a<b: <c'
        gives text 'If a<b: '
        holds '<c'

The search stops at `<call`, or at a part of it at the chunk's end. `<b` is neither: it is text,
and the search continues after it. `<c` is such a part: it is held, and everything before it is
emitted.

    'all tides><po'
        gives call started, markup '<call ', call named 'tides', markup '>'
        holds '<po'

The held text and the new chunk are one text: the opener matches. The engine calls the call's
reader, which calls the notation. The notation waits for a parameter, and `<po` may begin one.

    'rt>St </b> Ma'
        gives markup '<port>', argument 'St </b> Ma'
        holds ''

Inside a value other choices count: here only its closer. (Openers count too if they have words in
them or are control tokens: they show that a closer was forgotten, or that the call was cut off
before the next one.) `</b>` has the shape of a closer, but it does not name this parameter, and
the text after it cannot follow a closer: it belongs to the value. The value is emitted as it
arrives, without waiting for its end.

    'lo</po'
        gives argument 'lo'
        holds '</po'

    'rt></ca'
        gives nothing
        holds '</port></ca'

The closer is complete now, but it counts only before what may follow it: another parameter, the
call's closer, or a stop token. Otherwise a value could never hold its own closer. `</ca` may be
one of these.

    'll> Done.'
        gives markup '</port>', markup '</call>', call ended, text ' Done.'
        holds ''

Every character was in exactly one event, and any other cutting would have given the same events.

Why nothing is looked at twice

A megabyte in chunks of four characters is a quarter of a million chunks: to look back over an open
value at each chunk would take quadratic time. So a search claims everything before its candidate,
or everything if there is none; and `Scanner.add` drops what was claimed. Only a marker is
held and matched again, and every repetition in a pattern is bounded and possessive, so a marker is
some hundred characters at most. Values are searched by compiled patterns, never by a Python loop
over their characters. An argument is collected as one growing text (claims.py), which is freed as
soon as its value is made: memory holds the text once, then the value.

Most chunks are not walked at all: fast_path.py explains how they are skipped.

What may not be changed, and the test that fails if it is
- A `candidate_pattern` may find too much, never too little: a marker that it overlooks is text,
  whatever `match` would have said of it. tests/test_table.py: test_its_text_is_read_as_the_call
- A partial or a varying match is held. If it were emitted, events would depend on the cutting.
  tests/test_laws.py: test_law_1_any_chunking_gives_the_same_events, and the smallest examples,
  tests/test_parsing.py: test_a_closer_that_is_how_an_opener_begins_waits_for_more,
  tests/test_syntax.py: test_law_1_holds_where_one_marker_begins_another
- A choice is tried at every place where its first characters allow it to begin; otherwise its
  marker is overlooked. tests/test_quiet.py: test_no_choice_is_left_out_that_may_begin_at_a_place
- The key of a remembered beginning is all that `match` may look at: its text, and the text before
  it. tests/test_quiet.py: test_what_was_seen_before_changes_nothing
- More text never changes a decision, so the fewest characters that decide a marker are enough.
  tests/test_laws.py: test_law_1_any_chunking_gives_the_same_events
- A marker may come from a match in another text with the same beginning: its offsets are counted
  from its own start. tests/test_laws.py: test_law_2_spans_tile_the_stream
- Every claim, of markup too, goes forward and through `take_text`. tests/test_laws.py:
  test_law_2_spans_tile_the_stream
- A search begins at `Scanner.at`, after the claimed text, not at the start of `Scanner.text`. An
  earlier start finds the same marker again. tests/test_parsing.py:
  test_a_missing_closer_behind_whole_json_is_repaired_with_a_finding
- `Scanner.until` emits everything before its candidate, at every chunk: only a possible marker
  delays text. tests/test_parsing.py: test_text_is_given_out_as_soon_as_it_can_be_nothing_else
- A raw value's closer is matched together with what follows it. tests/test_laws.py:
  test_law_3_a_value_holds_the_text_of_its_own_closer
- Text that cannot be read raises BrokenCall and nothing else, and calls.py makes an aborted call
  of it. tests/test_laws.py: test_law_5_no_bytes_at_all_make_a_parser_raise
- The end of the stream inside a body is a truncated call, however good its arguments look.
  tests/test_laws.py: test_law_6_a_call_cut_off_is_never_delivered_changed
- White space is markup only next to a call or a marker, never between words; a separator of calls
  is markup only before a second call. tests/test_laws.py:
  test_law_10_only_what_is_declared_is_markup, tests/test_laws.py:
  test_law_10_a_separator_before_prose_is_prose
- Claimed text is forgotten, and no more than a marker is held. tests/test_laws.py:
  test_law_4_the_window_stays_small_whatever_the_value
- A skip rule looks at one chunk alone, and may find too much, never too little.
  tests/test_quiet.py: test_passing_by_changes_nothing
- A draft's events are emitted once, as events or as one text of reasoning, and its calls are
  counted only in the first case.
  tests/test_drafts.py: test_a_call_in_closed_reasoning_stays_reasoning
- Time is linear. No test can time it on a busy machine: run benchmarks/parsing.py, whose
  exponents stay at about 1.
"""
