// The stream player: one set of controls for up to four readings of a stream, whose texts scroll
// together. It gets its data once, has the position and the speed, and reports the step only when it
// stops. Only lines in sight are drawn: four columns of 200,000 characters play at 55 frames a second.

const mounted = new WeakMap()
const SPEEDS = [0.25, 0.5, 1, 2, 5, 20]
const PACE = 0.05 // seconds for each chunk, if no times were recorded
const ROW = 20 // height in pixels, of a line of text and of an event
const MOST_CALLS = 40 // the most cards, of the latest calls; the events have all calls
const TIMING = { recorded: "recorded", synthetic: "simulated", none: "no times: 20 chunks a second" }

const isWide = (code) => code >= 0x1100 && (code < 0x1160 || (code > 0x2e7f && code < 0xa4d0) || (code > 0xabff && code < 0xd7a4) || (code > 0xf8ff && code < 0xfb00) || (code > 0xff00 && code < 0xff61) || code > 0x1f2ff)
const joins = (code) => code === 0x200d || code === 0xfe0f || (code > 0x2ff && code < 0x370) || (code > 0x1f3fa && code < 0x1f400)

// Return [start, stop] of every line of at most `most` columns, so that only lines in sight are drawn
function wrap(codeAt, length, most) {
  const lines = []
  let [start, used, space] = [0, 0, -1]
  for (let at = 0; at < length; at += 1) {
    const code = codeAt(at)
    if (code === 10) {
      lines.push([start, at + 1])
      ;[start, used, space] = [at + 1, 0, -1]
      continue
    }
    const wide = code === 9 ? 2 : joins(code) ? 0 : isWide(code) ? 2 : 1
    if (used + wide > most && at > start && wide && codeAt(at - 1) !== 0x200d) {
      const cut = space > start ? space + 1 : at
      lines.push([start, cut])
      ;[start, space] = [cut, -1]
      used = at - cut
    }
    used += wide
    if (code === 32) space = at
  }
  lines.push([start, length])
  return lines
}

// Set the children of an element, in this order; children that stay are not touched
function arrange(parent, nodes) {
  const wanted = new Set(nodes)
  for (const node of [...parent.children]) if (!wanted.has(node)) node.remove()
  nodes.forEach((node, at) => {
    if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] ?? null)
  })
}

class Player {
  constructor(root, data, report) {
    this.root = root
    this.data = data
    this.report = report
    // offsets count code points, as Python does
    this.points = /[\ud800-\udfff]/.test(data.text) ? Array.from(data.text) : null
    this.length = this.points ? this.points.length : data.text.length
    this.times = data.timing === "none" ? data.steps.map((_, i) => i * PACE) : data.steps.map((s) => s[0])
    this.total = this.times[this.times.length - 1] || 1
    this.step = Math.min(data.step ?? this.last, this.last)
    Object.assign(this, { event: -1, unit: "chunk", playing: 0, speed: 1, lit: -1, view: "text", found: -1, top: 0, phone: 0 })
    this.build()
    this.sizes = new ResizeObserver(() => this.layout())
    this.sizes.observe(root)
    this.unheard = hearKeys(root, (key, event) => this.act(key, event))
    this.layout()
  }

  leave() {
    cancelAnimationFrame(this.playing)
    this.sizes.disconnect()
    this.unheard()
  }

  slice(start, stop) {
    return this.points ? this.points.slice(start, stop).join("") : this.data.text.slice(start, stop)
  }

  get last() {
    return this.data.steps.length - 1
  }

  build() {
    const { data } = this
    this.playButton = button("Play", "Play or pause (space)", () => this.toggle())
    this.playButton.className = "play"
    this.place = element("span", "place")
    this.eventsButton = button("Events", "Show events in place of the text", () => this.show(this.view === "text" ? "events" : "text"))
    const many = data.differences.length
    const different = button(`◆ First difference`, many ? `First difference (f), then the next of ${many}` : "The columns read alike", () => this.difference(1))
    different.disabled = !many
    const bar = element("div", "controls transport")
    bar.append(
      button("|◀", "First step (Home)", () => this.seek(0, true)),
      button("◀", "One step back (←)", () => this.move(-1)),
      this.playButton,
      button("▶", "One step on (→)", () => this.move(1)),
      button("▶|", "Last step (End)", () => this.seek(this.last, true)),
      chooser("Step by", ["chunk", "event", "finding"].map((unit) => [unit, `by ${unit}`]), (v) => {
        this.unit = v
        this.event = this.data.columns[0].steps[this.step][2] - 1
      }),
      chooser("Speed", SPEEDS.map((s) => [s, `${s}×`]), (v) => (this.speed = Number(v)), 1),
      different,
      this.eventsButton,
      this.place,
    )
    this.slider = element("input", "slider")
    Object.assign(this.slider, { type: "range", min: 0, max: this.total, step: "any" })
    this.slider.setAttribute("aria-label", "Step")
    this.slider.oninput = () => this.seek(firstPast(this.times, (t) => t > this.slider.value) - 1)
    this.slider.onchange = () => this.rest()
    this.rhythm = element("canvas", "rhythm")
    const scrubber = element("div", "scrubber")
    scrubber.append(this.rhythm, this.slider)
    this.tabs = element("div", "tabs")
    this.columns = element("div", "columns")
    this.columns.style.setProperty("--columns", data.columns.length)
    this.parts = data.columns.map((column, at) => this.buildColumn(column, at))
    const legend = element("div", "legend")
    for (const kind of data.kinds) legend.append(element("span", `k-${kind}`, kind.replace("-", " ")))
    legend.append(element("span", "to", "still to come"))
    this.root.replaceChildren(bar, scrubber, this.tabs, this.columns, legend, this.buildFindings())
    this.root.tabIndex = 0
    this.root.onkeydown = (event) => this.key(event)
    this.choose(0)
  }

  buildColumn(column, at) {
    const part = { node: element("div", "column"), state: element("small", ""), rows: new Map(), cards: new Map(), height: 0 }
    const head = element("div", "head")
    const title = element("div", "title")
    title.append(element("h2", "", column.name))
    const whole = column.calls.filter((call) => call.ended !== null).length
    title.append(element("span", whole ? "tag ok" : "tag bad", whole ? `${counted(whole, "call")} in all` : "no call"))
    if (column.dropped) title.append(element("span", "tag bad", `${counted(column.dropped, "character")} dropped`))
    title.append(copyButton(`text of ${column.name}`, () => this.data.text))
    head.append(title, part.state)
    part.text = scrollable(element("div", "text"), `The stream as ${column.name} reads it`, "group")
    part.sheet = element("div", "sheet")
    part.text.append(part.sheet)
    part.text.onscroll = () => this.scrolled(part.text.scrollTop)
    part.calls = element("div", "calls")
    part.node.append(head, part.text, part.calls)
    this.columns.append(part.node)
    const tab = button(column.name, `Show ${column.name}`, () => this.choose(at))
    this.tabs.append(tab)
    return part
  }

  // Choose the column that a narrow screen shows
  choose(at) {
    this.phone = at
    this.parts.forEach((part, number) => part.node.classList.toggle("on", number === at))
    ;[...this.tabs.children].forEach((tab, number) => tab.setAttribute("aria-pressed", number === at))
    this.layout()
    this.parts.forEach((part) => (part.text.scrollTop = this.top))
  }

  buildFindings() {
    const card = element("section", "findings")
    card.setAttribute("aria-label", "Findings")
    this.rows = this.data.findings.map(([column, severity, code, at, message, fix, about], number) => {
      const row = element("div", "found")
      const words = element("div", "words")
      words.append(element("b", "", message), element("small", "", `${code} · at ${grouped(at)}`), phrase("p", "", fix))
      if (about.trim()) words.append(element("code", "", about))
      const copied = `${column}: ${message} (${code}, at ${at}). ${fix}\n${about}`
      row.append(
        element("span", severity === "info" ? "tag" : "tag bad", column),
        words,
        button("Show", `Show the text of finding ${number + 1}`, () => this.toFinding(number)),
        copyButton(`finding ${number + 1}`, () => copied),
      )
      return row
    })
    const title = element("div", "title")
    title.append(element("h2", "", "Findings"), element("small", "", `${this.rows.length}, worst first · [ and ] go through them in the order of the text`))
    card.append(title, ...this.rows)
    card.hidden = !this.rows.length
    return card
  }

  // Compute lines, heights and the rhythm for the present size
  layout() {
    const seen = this.parts.find((part) => part.text.clientWidth)
    if (!seen) return
    const probe = element("span", "line", "0".repeat(100))
    seen.sheet.append(probe)
    const wide = probe.getBoundingClientRect().width / 100 || 8
    probe.remove()
    const most = Math.max(10, Math.floor((seen.text.clientWidth - 26) / wide))
    if (most !== this.most) {
      this.most = most
      const { text } = this.data
      const codeAt = this.points ? (at) => this.points[at].codePointAt(0) : (at) => text.charCodeAt(at)
      this.lines = wrap(codeAt, this.length, most)
      this.forget()
    }
    // read once, because a read between two changes would make the browser lay out the page
    for (const part of this.parts) part.height = part.text.clientHeight
    this.fit()
    const room = `${this.slider.clientWidth} ${devicePixelRatio} ${getComputedStyle(this.place).color}`
    if (room !== this.room) this.drawRhythm() // not if only the height changed, as with each call
    this.room = room
    this.draw()
  }

  // Draw every line again
  forget() {
    for (const part of this.parts) {
      part.rows.clear()
      part.sheet.replaceChildren()
    }
  }

  fit() {
    this.data.columns.forEach((column, at) => {
      const rows = Math.max(this.lines.length, this.view === "text" ? 0 : column.events.length)
      this.parts[at].sheet.style.height = `${rows * ROW}px`
    })
  }

  lineOf(offset) {
    return Math.max(0, firstPast(this.lines, ([start]) => start > offset) - 1)
  }

  scrolled(top) {
    if (Math.abs(top - this.top) < 1) return
    this.scrollTo(top)
    this.drawTexts()
  }

  scrollTo(top) {
    this.top = top
    for (const part of this.parts) part.text.scrollTop = top
  }

  // Scroll every column to a line or an event. The lines there are drawn later, because otherwise the
  // browser would lay out the changes before it scrolls
  follow(row) {
    const seen = this.parts.find((part) => part.height)
    if (!seen) return
    const [height, at] = [seen.height, row * ROW]
    if (at < this.top + ROW || at > this.top + height - 3 * ROW) {
      const most = parseFloat(seen.sheet.style.height) - height + 20
      this.scrollTo(Math.max(0, Math.min(at - height / 2, most)))
    }
  }

  show(view) {
    this.view = view
    this.eventsButton.setAttribute("aria-pressed", view === "events")
    this.forget()
    this.fit()
    this.draw()
  }

  key(event) {
    if (event.target.tagName === "SELECT") return
    if (event.key === " " && event.target.tagName === "BUTTON") return
    if (this.act(event.key, event, event.target === this.slider)) event.stopPropagation()
  }

  act(key, event, slider = false) {
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: slider ? null : () => this.move(-1),
      ArrowRight: slider ? null : () => this.move(1),
      Home: () => this.seek(0, true),
      End: () => this.seek(this.last, true),
      "[": () => this.nextFinding(-1),
      "]": () => this.nextFinding(1),
      f: () => this.difference(1),
      F: () => this.difference(-1),
    }
    const action = event.ctrlKey || event.metaKey ? null : actions[key]
    if (!action) return false
    event.preventDefault()
    action()
    return true
  }

  move(direction) {
    if (this.unit === "chunk") return this.seek(this.step + direction, true)
    if (this.unit === "finding") return this.nextFinding(direction)
    const count = this.data.columns[0].steps[this.step][2]
    const at = this.event < 0 ? count - (direction > 0 ? 1 : 0) : this.event
    return this.toEvent(at + direction)
  }

  // Go to an event of the first column, at the step that brought its last character
  toEvent(index) {
    const { events } = this.data.columns[0]
    if (!events.length) return
    const at = Math.max(0, Math.min(index, events.length - 1))
    this.seek(events[at][4], true, at)
  }

  stepAt(offset) {
    const { steps } = this.data.columns[0]
    return Math.min(this.last, firstPast(steps, ([stop]) => stop > offset))
  }

  toFinding(index) {
    const { findings } = this.data
    if (!findings.length) return
    this.found = Math.max(0, Math.min(index, findings.length - 1))
    this.rows.forEach((row, number) => row.classList.toggle("now", number === this.found))
    this.light(findings[this.found][3])
  }

  // Go to the finding before or after the place that is lit, in the order of the stream; the list
  // is sorted by severity
  nextFinding(direction) {
    const { findings } = this.data
    const order = [...findings.keys()].sort((one, other) => findings[one][3] - findings[other][3] || one - other)
    const isThere = findings[this.found]?.[3] === this.lit
    const after = order.findIndex((number) => findings[number][3] >= this.lit)
    const next = after < 0 ? order.length : after
    const at = isThere ? order.indexOf(this.found) + direction : direction > 0 ? next : next - 1
    this.toFinding(order[Math.max(0, Math.min(at, order.length - 1))])
  }

  // Go to the next place where the columns begin to differ; after the last, to the first
  difference(direction) {
    const { differences } = this.data
    if (!differences.length) return
    const at = differences.indexOf(this.lit) + direction
    this.light(differences[(at + differences.length) % differences.length])
  }

  light(offset) {
    this.lit = offset
    this.seek(this.stepAt(offset), true)
    this.follow(this.lineOf(offset))
    this.drawTexts()
  }

  toggle() {
    if (this.playing) return this.pause()
    if (this.step === this.last) this.seek(0)
    this.playButton.textContent = "Pause"
    let last = performance.now()
    let clock = this.times[this.step]
    const frame = (now) => {
      clock += ((now - last) / 1000) * this.speed
      last = now
      let { step } = this
      while (step < this.last && this.times[step + 1] <= clock) step += 1
      if (step !== this.step) this.seek(step)
      if (step === this.last) return this.pause()
      this.playing = requestAnimationFrame(frame)
    }
    this.playing = requestAnimationFrame(frame)
  }

  pause() {
    cancelAnimationFrame(this.playing)
    this.playing = 0
    this.playButton.textContent = "Play"
    this.rest()
  }

  rest() {
    if (!this.playing) this.report(this.step)
  }

  seek(step, resting = false, event = -1) {
    this.step = Math.max(0, Math.min(step, this.last))
    this.event = event
    const [stop, , count] = this.data.columns[0].steps[this.step]
    if (this.lines) this.follow(this.view === "text" ? this.lineOf(stop) : event < 0 ? count : event)
    this.draw()
    if (resting) this.rest()
  }

  draw() {
    if (!this.lines) return
    const [, given, kind] = this.data.steps[this.step]
    this.slider.value = this.times[this.step]
    const where = this.step === this.last ? "end of the stream" : `chunk ${grouped(this.step + 1)} of ${grouped(this.last)}`
    const time = this.data.timing === "none" ? "" : `${seconds(this.times[this.step])}, `
    const got = given ? ` · ${kind === "text" ? "" : `${kind} `}${isolated(JSON.stringify(given))}` : ""
    this.place.textContent = `${where} · ${time}${TIMING[this.data.timing]}${got}`
    this.place.title = this.place.textContent
    this.slider.setAttribute("aria-valuetext", where)
    this.data.columns.forEach((column, at) => this.drawHead(column, this.parts[at]))
    this.drawTexts()
  }

  drawHead(column, part) {
    const [stop, state] = column.steps[this.step]
    const [mode, detail, held] = column.states[state]
    const isOver = this.step === this.last
    part.state.textContent = isOver ? column.note : [mode, detail, held ? `waiting: ${isolated(JSON.stringify(held))}` : ""].filter(Boolean).join(" · ")
    part.state.title = part.state.textContent
    const begun = firstPast(column.calls, (call) => call.began > this.step)
    const first = Math.max(0, begun - MOST_CALLS)
    const nodes = []
    if (!begun) nodes.push(this.card(part, -1, column.calls.length ? "No call yet" : "No call is read", () => element("div", "call none", column.calls.length ? "No call yet" : "No call is read")))
    if (first) nodes.push(this.card(part, -2, first, () => element("div", "call none", `${counted(first, "earlier call")}: see Events`)))
    for (let index = first; index < begun; index += 1) {
      const call = column.calls[index]
      const fate = call.ended !== null && call.ended <= this.step ? "" : call.aborted !== null && call.aborted <= this.step ? "aborted" : "still open"
      nodes.push(this.card(part, index, fate === "still open" ? stop : fate, () => this.callCard(call, fate, stop)))
    }
    arrange(part.calls, nodes)
    for (const index of part.cards.keys()) if (index >= 0 && (index < first || index >= begun)) part.cards.delete(index)
  }

  // Return a card; it is made again only if its state has changed
  card(part, index, state, make) {
    if (part.cards.get(index)?.state !== state) part.cards.set(index, { state, node: make() })
    return part.cards.get(index).node
  }

  callCard(call, fate, stop) {
    const card = element("div", "call")
    card.append(element("b", "", call.name), element("small", "", fate))
    for (const [key, from, to, delivered] of call.arguments) {
      if (from >= stop) continue
      const line = element("div", "", key ? `${key}: ` : "")
      const isMended = delivered !== undefined && !fate // the delivered text is known once the call has ended
      line.append(element("i", "", isMended ? delivered : this.slice(from, Math.min(to, stop, from + 2000))))
      card.append(line)
    }
    return card
  }

  // Draw the lines in sight, and of these only those that have changed
  drawTexts() {
    this.data.columns.forEach((column, at) => {
      const part = this.parts[at]
      if (!part.height) return
      const isText = this.view === "text"
      const rows = isText ? this.lines : column.events
      const from = Math.max(0, Math.floor(this.top / ROW) - 3)
      const to = Math.min(rows.length, from + Math.ceil(part.height / ROW) + 7)
      const nodes = []
      for (let row = from; row < to; row += 1) {
        const state = isText ? this.lineState(column, rows[row]) : this.eventState(column, row)
        let drawn = part.rows.get(row)
        if (drawn?.state !== state) {
          drawn = { state, node: isText ? this.line(column, rows[row]) : this.eventRow(column, row) }
          drawn.node.style.top = `${row * ROW}px`
          part.rows.set(row, drawn)
        }
        nodes.push(drawn.node)
      }
      for (const row of part.rows.keys()) if (row < from || row >= to) part.rows.delete(row)
      arrange(part.sheet, nodes)
    })
  }

  // Return everything on which a line's look depends, besides its text
  lineState(column, [start, stop]) {
    const [reached] = column.steps[this.step]
    const lit = this.lit >= start && this.lit < stop ? this.lit : -1
    return `${Math.max(start, Math.min(reached, stop))} ${lit}`
  }

  eventState(column, index) {
    return `${index < column.steps[this.step][2]} ${index === this.eventNow(column)}`
  }

  eventNow(column) {
    const isChosen = this.event >= 0 && column === this.data.columns[0]
    return isChosen ? this.event : column.steps[this.step][2] - 1
  }

  line(column, [start, stop]) {
    const { segments } = column
    const [reached] = column.steps[this.step]
    const node = element("div", "line")
    const add = (kind, from, to) => {
      if (from >= to) return
      const past = to <= reached
      const span = element("span", `k-${kind}${past ? " past" : " to"}`, this.slice(from, to).replace("\n", ""))
      if (from === this.lit) span.classList.add("lit")
      node.append(span)
    }
    for (let at = Math.max(0, firstPast(segments, ([, , end]) => end > start)); at < segments.length && segments[at][1] < stop; at += 1) {
      const [kind, first, end] = segments[at]
      const edges = [Math.max(first, start), Math.min(end, stop)]
      for (const edge of [reached, this.lit, this.lit + 1]) if (edge > edges[0] && edge < edges[edges.length - 1]) edges.push(edge)
      edges.sort((a, b) => a - b)
      for (let edge = 1; edge < edges.length; edge += 1) add(kind, edges[edge - 1], edges[edge])
    }
    return node
  }

  eventRow(column, index) {
    const [kind, , , , , label] = column.events[index]
    const isPast = index < column.steps[this.step][2]
    const row = element("div", `event k-${kind}${isPast ? " past" : ""}${index === this.eventNow(column) ? " now" : ""}`)
    row.append(element("span", "what", kind.replace("-", " ")), element("span", "label", label))
    row.onclick = () => this.seek(column.events[index][4], true, column === this.data.columns[0] ? index : -1)
    return row
  }

  // Draw how many chunks came at each time, the findings, and the first difference
  drawRhythm() {
    const [width, dots] = [this.slider.clientWidth, devicePixelRatio || 1]
    Object.assign(this.rhythm, { width: width * dots, height: 22 * dots })
    const context = this.rhythm.getContext("2d")
    context.scale(dots, dots)
    const inks = {}
    for (const name of ["rhythm", "found", "ink"]) {
      this.place.style.color = `var(--${name})`
      inks[name] = getComputedStyle(this.place).color
    }
    this.place.style.color = ""
    const bins = new Float32Array(Math.max(1, Math.floor(width / 3)))
    for (const time of this.times) bins[Math.min(bins.length - 1, Math.floor((time / this.total) * bins.length))] += 1
    const most = Math.max(...bins)
    context.fillStyle = inks.rhythm
    bins.forEach((count, at) => context.fillRect(at * 3, 15 - (14 * count) / most, 2, (14 * count) / most))
    const tick = (offset, name, size) => {
      const x = (this.times[this.stepAt(offset)] / this.total) * width
      context.fillStyle = inks[name]
      context.fillRect(Math.min(width - size, Math.max(0, x - size / 2)), 17, size, 5)
    }
    for (const [, , , at] of this.data.findings) tick(at, "found", 5)
    if (this.data.differences.length) tick(this.data.differences[0], "ink", 4)
  }
}

function mount({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".player")
  if (!root || !data) return undefined
  const before = mounted.get(root)
  if (before && before.data.key === data.key) {
    before.report = (step) => setStateValue("position", step)
    return undefined
  }
  if (before) before.leave()
  const player = new Player(root, data, (step) => setStateValue("position", step))
  mounted.set(root, player)
  return () => mounted.get(root)?.leave()
}

export default function host(component) {
  return hosted(component, "player", mount)
}
