"""Read one reply in the dialect that a menu names: `marimo edit examples/reply.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import playground as pg

    return mo, pg


@app.cell
def _(mo):
    mo.md("""
    # What does a model's reply call?

    A reply, the tools that it was given, and a dialect: this is all that a parser needs. Nothing
    leaves this machine.
    """)
    return


@app.cell
def _(pg):
    session = pg.sample_sessions()["02-parallel-calls"]
    answer = "<get_tides><harbour>Brest</harbour><metres>true</metres></get_tides>"
    session
    return answer, session


@app.cell
def _(answer, pg, session):
    found = pg.detect(answer, session.tools)
    found
    return


@app.cell
def _(mo, pg):
    dialect = mo.ui.dropdown(pg.dialect_names(), value="xml", label="dialect")
    dialect
    return (dialect,)


@app.cell
def _(answer, dialect, pg, session):
    result = pg.parse(answer, dialect.value, session.tools)
    result
    return (result,)


@app.cell
def _(result):
    result.frame()
    return


@app.cell
def _(dialect, pg, session):
    pg.compare(session, dialect.value)
    return


if __name__ == "__main__":
    app.run()
