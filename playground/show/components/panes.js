// Requests side by side as one grid: a row for each origin, a column for each request. Only the part
// in sight is in the page. Session text is only set as textContent, so it never becomes markup.

const COLUMN = 264 // least width in pixels: with more columns, the grid scrolls sideways
const NARROW = 600 // pixels: up to this width there is one column at a time
const AHEAD = 500 // pixels around the part in sight that are drawn, too
const DRAWING = 16 // milliseconds of drawing in each frame; then the browser needs time for its layout
// Pixels, to estimate a row before it is measured: the height of a line, the space above and below a
// block's text, above a row's blocks and beside a text, and the width of a letter
const [LINE, AROUND, ABOVE, BESIDE, LETTER] = [17.6, 16, 28, 43, 7.5]
const grids = new WeakMap()

class Grid extends Headed {
  constructor(root) {
    super()
    this.root = root
    this.rows = new Map() // the rows that are drawn: number → node
    this.figures = [] // figures of each pane, which may come later than its text
    this.build()
    this.watcher = new ResizeObserver(() => this.resize())
    this.watcher.observe(this.scroller)
    this.unheard = hearKeys(root, (key, event) => {
      if (key !== "/") return
      event.preventDefault()
      this.box.focus()
    })
    this.late = ({ detail }) => this.mayEdit && detail.length === this.data.panes.length && this.note(detail)
    document.addEventListener("playground-figures", this.late)
  }

  leave() {
    this.watcher.disconnect()
    document.removeEventListener("playground-figures", this.late)
    this.unheard()
  }

  build() {
    this.scroller = scrollable(element("div", "scroller"), "Requests side by side")
    this.scroller.onscroll = () => this.later()
    this.sheet = element("div", "sheet")
    this.sheet.setAttribute("role", "table")
    this.scroller.append(this.sheet)
    this.tabs = element("div", "tabs")
    this.root.replaceChildren(this.toolbar(), this.tabs, this.scroller)
  }

  toolbar() {
    const bar = element("div", "controls")
    this.box = element("input", "search")
    Object.assign(this.box, { type: "search", placeholder: "Search all messages" })
    this.box.setAttribute("aria-label", "Search all messages of all panes")
    this.box.oninput = () => {
      this.typed = "new"
      this.seek()
    }
    this.box.onkeydown = (event) => {
      event.stopPropagation()
      if (event.key !== "Enter") return
      this.go(event.shiftKey ? -1 : this.typed ? 0 : 1) // the first Enter stays at the hit that typing has shown
      this.typed = ""
    }
    this.said = element("span", "place")
    this.said.setAttribute("role", "status")
    this.against = element("select", "against")
    this.against.onchange = () => {
      this.base = Number(this.against.value)
      this.report("diff", this.data.panes[this.base]?.name ?? "")
      this.forget()
    }
    this.aside = button("", "", () => this.scrollAside(this.beyond()))
    this.aside.className = "aside"
    this.aside.hidden = true
    const label = element("label", "compared", "Diff against ")
    label.append(this.against)
    const back = button("◀", "Previous occurrence", () => this.go(-1))
    const on = button("▶", "Next occurrence (Enter)", () => this.go(1))
    bar.append(this.box, back, on, this.said, this.aside, label)
    return bar
  }

  // Show other requests; the scroll position, the search and the base of the diff stay
  take(data) {
    const anchor = this.data && this.anchor()
    const kept = anchor && this.keyOf(anchor.row)
    if (this.data && isAlike(this.data, data)) return this.exchange(data)
    const { panes } = this.data ?? data
    const base = panes[this.data ? this.base : data.base]?.name // at first the data's own base
    this.data = data
    this.cells = cellsOf(data)
    this.base = data.panes.findIndex((pane) => pane.name === base)
    this.choices()
    this.search = new Search(this.cells, data.texts, () => this.tell())
    this.more.clear()
    this.shape()
    const row = kept ? data.rows.findIndex((_, number) => this.keyOf(number) === kept) : -1
    if (row >= 0) this.scroller.scrollTop = this.tops[row] + anchor.into
    if (!anchor) this.showText(0)
    this.later() // drawing gets a task of its own, after the one that read the data
    this.seek()
    return undefined
  }

  // Take other texts in the same rows and columns; only changed cells are drawn again
  exchange(data) {
    const { texts } = this.data
    const before = this.cells
    this.data = data
    this.cells = cellsOf(data)
    const told = (blocks, all) => JSON.stringify(blocks?.map(([text, ...more]) => [all[text], more]))
    const differs = (row, pane) => told(before[row][pane], texts) !== told(this.cells[row][pane], data.texts)
    for (const [row, node] of this.rows) {
      const all = this.base >= 0 && differs(row, this.base)
      for (const pane of node.drawn) {
        if (all || differs(row, pane)) this.drawAgain(row, pane)
      }
    }
    this.search = new Search(this.cells, data.texts, () => this.tell())
    this.seek()
    this.later()
  }

  drawAgain(row, pane) {
    const node = this.rows.get(row)
    if (!node?.drawn.has(pane) || this.holdsBox(row, pane)) return
    node.querySelector(`[aria-colindex="${pane + 2}"]`)?.remove()
    const cell = this.drawCell(row, pane)
    if (cell) node.append(cell)
  }

  // Return a row's key, which the next grid has, too: its origin, and how many such rows precede it
  keyOf(number) {
    const { rows } = this.data
    let nth = 0
    for (let at = 0; at < number; at += 1) nth += rows[at][0] === rows[number][0]
    return `${nth} ${rows[number][0]}`
  }

  choices() {
    const { panes } = this.data
    const names = ["none", ...panes.map((pane) => pane.name)]
    offer(this.against, names.map((name, at) => [at - 1, name]), this.base)
    this.against.parentElement.hidden = panes.length < 2 || Boolean(this.data.fixed)
  }

  // Set the widths and the heads, and estimate the heights, before anything is measured
  shape() {
    const { panes, rows, texts } = this.data
    this.width = this.scroller.clientWidth
    const least = this.buildTabs() ? this.width : Math.min(COLUMN, this.width)
    this.column = Math.max(least, Math.floor(this.width / Math.max(1, panes.length)))
    this.sheet.style.setProperty("--column", `${this.column}px`)
    this.sheet.style.setProperty("--panes", panes.length)
    this.sheet.style.setProperty("--seen", `${this.width}px`)
    this.sheet.style.width = `${this.column * panes.length}px`
    this.sheet.setAttribute("aria-rowcount", rows.length + 1)
    this.sheet.setAttribute("aria-colcount", panes.length + 1)
    this.head = this.drawHead()
    this.sheet.replaceChildren(this.head)
    this.rows.clear()
    const letters = (this.column - BESIDE) / LETTER
    const lines = texts.map((text) => linesOf(text, letters))
    const high = (blocks) => blocks.reduce((sum, [text]) => sum + lines[text] * LINE + AROUND, 0)
    const most = (row) => ABOVE + row.reduce((height, blocks) => Math.max(height, high(blocks)), 0)
    this.heights = this.cells.map(most) // `reduce` skips panes without a cell in the row
    this.stack()
  }

  stack() {
    let top = this.head.offsetHeight
    this.tops = this.heights.map((height) => (top += height) - height)
    this.end = top
    this.sheet.style.height = `${top}px`
    for (const [number, node] of this.rows) node.style.top = `${this.tops[number]}px`
  }

  rowAt(top) {
    return Math.max(0, firstPast(this.tops, (each) => each > top) - 1)
  }

  anchor() {
    const under = this.scroller.scrollTop + this.head.offsetHeight
    const row = this.rowAt(under)
    return { row, into: this.scroller.scrollTop - this.tops[row] }
  }

  later() {
    this.waiting ??= requestAnimationFrame(() => this.draw())
  }

  resize() {
    if (!this.data || this.scroller.clientWidth === this.width) return this.later()
    const { row } = this.anchor()
    this.shape()
    this.scroller.scrollTop = this.tops[row] - this.head.offsetHeight
    this.showText(row)
    return this.draw()
  }

  // Draw everything again
  forget() {
    for (const node of this.rows.values()) node.remove()
    this.rows.clear()
    this.draw()
  }

  draw() {
    cancelAnimationFrame(this.waiting)
    this.waiting = undefined
    if (!this.data?.rows.length || !this.width) return
    const stop = performance.now() + DRAWING
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.scroller
    const anchor = this.anchor()
    this.left = Math.max(0, Math.floor((scrollLeft - AHEAD) / this.column))
    this.right = Math.ceil((scrollLeft + clientWidth + AHEAD) / this.column)
    const from = this.rowAt(scrollTop - AHEAD)
    const to = this.rowAt(scrollTop + clientHeight + AHEAD)
    this.drop(from, to)
    // The rows from the top of the visible part come first.
    const order = []
    for (let number = anchor.row; number <= to; number += 1) order.push(number)
    for (let number = anchor.row - 1; number >= from; number -= 1) order.push(number)
    let late = order.some((number) => !this.drawRow(number, stop))
    if (this.measure()) {
      this.stack()
      const want = this.tops[anchor.row] + anchor.into
      if (Math.abs(want - this.scroller.scrollTop) > 1) this.scroller.scrollTop = want
      late = true // other rows may be in sight now
    }
    this.light()
    this.edit?.focusOnce()
    this.tellAside()
    if (late) this.later()
  }

  drop(from, to) {
    const focused = this.root.getRootNode().activeElement
    for (const [number, node] of this.rows) {
      if ((number >= from && number <= to) || node.contains(focused)) continue
      node.remove()
      this.rows.delete(number)
    }
  }

  measure() {
    const measured = [...this.rows].map(([number, node]) => [number, node.offsetHeight])
    let changed = false
    for (const [number, height] of measured) {
      // A column out of sight may be higher, so a row does not shrink when columns leave the view.
      const next = this.rows.get(number).whole ? height : Math.max(height, this.heights[number])
      if (Math.abs(next - this.heights[number]) < 1) continue
      this.heights[number] = next
      changed = true
    }
    return changed
  }

  // Draw the visible part of a row. Return true if it is complete before the time `stop`: a diff of
  // one cell takes milliseconds, so a row of eight may not fit into a frame
  drawRow(number, stop) {
    let node = this.rows.get(number)
    if (!node) {
      node = this.emptyRow(number)
      const later = [...this.rows.keys()].filter((each) => each > number)
      this.sheet.insertBefore(node, this.rows.get(Math.min(...later)) ?? null)
      this.rows.set(number, node)
    }
    const { panes } = this.data
    for (let pane = this.left; pane < Math.min(this.right, panes.length); pane += 1) {
      if (node.drawn.has(pane)) continue
      if (performance.now() > stop) return false
      node.drawn.add(pane)
      const cell = this.drawCell(number, pane)
      if (cell) node.append(cell)
    }
    node.whole = node.drawn.size === panes.length
    return true
  }

  emptyRow(number) {
    const [origin, label] = this.data.rows[number]
    const node = element("div", "row")
    node.drawn = new Set()
    node.dataset.origin = origin
    node.style.top = `${this.tops[number]}px`
    node.setAttribute("role", "row")
    node.setAttribute("aria-rowindex", number + 2)
    const head = element("div", "origin")
    head.setAttribute("role", "rowheader")
    const section = sectionOf(origin)
    if (section && section !== sectionOf(this.data.rows[number - 1]?.[0] ?? "")) {
      head.append(...this.drawSection(section))
    }
    const chooser = button(label, `Show ${label} in every pane`, () => this.select(origin))
    chooser.className = "choose"
    head.append(chooser)
    node.append(head)
    return node
  }

  // Ask the page for a block's texts; then the block opens for editing in the clicked column
  open(origin, pane) {
    this.editPane = pane
    const number = Date.now()
    if (this.edit) this.edit.keep({ then: origin, next: number })
    else this.ask({ do: "open", origin, number })
    this.choose(origin, false)
  }

  // Take the page's data on the open block
  edited(editing) {
    const number = editing?.number
    if (this.edit && this.edit.number === number) return this.edit.note(editing)
    if (this.edit) this.close()
    if (this.mayEdit && number === undefined && !this.looked) {
      const kept = keptDraft()
      if (kept) this.open(kept.origin, kept.pane)
    }
    this.looked ||= this.mayEdit
    if (number === undefined || (number === this.closed && !editing.fault)) return undefined
    const send = { ask: (what) => this.ask(what), draft: (draft) => this.report("draft", draft) }
    this.edit = new EditBox(editing, send)
    this.edit.pane = this.editPane
    this.edit.onresize = () => this.later()
    this.edit.onend = () => this.close()
    const row = this.data.rows.findIndex(([origin]) => origin === editing.origin)
    if (!this.data.panes[this.editPane]) this.editPane = 0
    this.editRow = row
    this.choose(editing.origin, true)
    return this.redraw(row)
  }

  close() {
    rememberDraft(null)
    this.closed = this.edit.number
    this.edit = undefined
    this.redraw(this.editRow)
  }

  redraw(row) {
    this.rows.get(row)?.remove()
    this.rows.delete(row)
    this.draw()
  }

  holdsBox(row, pane) {
    return Boolean(this.edit) && row === this.editRow && pane === this.editPane
  }

  select(origin) {
    this.choose(this.selected === origin ? "" : origin, true)
    this.report("origin", this.selected)
  }

  // Highlight an origin in every pane; with `scroll`, bring it to the top
  choose(origin, scroll) {
    this.selected = origin
    const row = origin ? this.data.rows.findIndex(([each]) => each === origin) : -1
    if (row >= 0 && scroll) this.scrollTo(row)
    this.later()
  }

  scrollTo(row) {
    const { scrollTop, clientHeight } = this.scroller
    const top = this.tops[row] - this.head.offsetHeight
    const seen = top >= scrollTop && this.tops[row] + 80 < scrollTop + clientHeight
    if (!seen) this.scroller.scrollTop = top
    this.showText(row)
  }

  light() {
    for (const node of this.rows.values()) {
      const lit = Boolean(this.selected) && node.dataset.origin === this.selected
      node.querySelector(".choose").setAttribute("aria-pressed", lit)
      for (const block of node.querySelectorAll(".block")) block.classList.toggle("lit", lit)
    }
    this.lightHits()
  }
}

function cellsOf(data) {
  const cells = data.rows.map(() => [])
  data.panes.forEach((pane, at) => {
    for (const [row, blocks] of pane.cells) cells[row][at] = blocks
  })
  return cells
}

function isAlike(one, other) {
  const same = (a, b, of) => a.length === b.length && a.every((each, at) => of(each) === of(b[at]))
  return same(one.rows, other.rows, ([origin]) => origin) && same(one.panes, other.panes, (pane) => pane.name)
}

// Estimate the lines of a text's shown part, without a copy: there may be ten thousand texts
function linesOf(text, letters) {
  const end = Math.min(text.length, SHOWN)
  let lines = 0
  for (let from = 0; from < end; ) { // the last line end begins no line
    const at = text.indexOf("\n", from)
    const stop = at < 0 || at > end ? end : at
    lines += Math.max(1, Math.ceil((stop - from) / letters))
    from = stop + 1
  }
  return Math.max(1, lines)
}

function mount({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".panes")
  if (!root || !data) return undefined
  const known = grids.get(root)
  const grid = known ?? new Grid(root)
  grids.set(root, grid)
  grid.report = setStateValue
  grid.mayEdit = Boolean(data.editing) // as on Compare
  grid.ask = (what) => setTriggerValue("asked", what)
  if (!known || grid.data.key !== data.key) grid.take(data)
  grid.note(data.figures ?? [])
  if (!known || grid.selected !== data.selected) grid.choose(data.selected, true)
  grid.edited(data.editing)
  return known ? undefined : () => grid.leave()
}

export default function host(component) {
  return hosted(component, "panes", mount)
}
