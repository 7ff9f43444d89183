// The stream player: fed once, it owns position, speed and keys; it reports only when it rests.
// Text is drawn in segments, of which a step rewrites the last one at most.

const mounted = new WeakMap()
const SPEEDS = [0.25, 0.5, 1, 2, 5, 20]
const BLOCK = 4096
const PACE = 0.05 // seconds a chunk, where nobody recorded times
const ROWS = 1500 // of the event list
const TIMING = {
  recorded: "times as recorded",
  synthetic: "times made up",
  none: "no times recorded: played at 20 chunks a second",
}

function chooser(title, options, chosen, action) {
  const node = element("select", "")
  node.title = title
  node.setAttribute("aria-label", title)
  for (const [value, label] of options) {
    const option = element("option", "", label)
    option.value = value
    option.selected = value === chosen
    node.append(option)
  }
  node.onchange = () => action(node.value)
  return node
}

// segments: [kind, start, stop] in order; long ones are cut so that redrawing one stays cheap
function cut(segments) {
  const result = []
  for (const [kind, start, stop] of segments) {
    for (let at = start; at < stop; at += BLOCK) result.push([kind, at, Math.min(at + BLOCK, stop)])
  }
  return result
}

class Player {
  constructor(root, data, report) {
    this.root = root
    this.data = data
    this.report = report
    // offsets count code points, as Python does
    this.points = /[\ud800-\udfff]/.test(data.text) ? Array.from(data.text) : null
    this.segments = cut(data.segments)
    this.times = data.timing === "none" ? data.steps.map((_, i) => i * PACE) : data.steps.map((s) => s[0])
    this.step = Math.min(data.step ?? 0, data.steps.length - 1)
    this.event = -1 // the event that the arrows stand on, when they step by event
    this.unit = "chunk"
    this.playing = 0
    this.speed = 1
    this.shown = 0
    this.build()
    this.draw()
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
    this.slider = element("input", "slider")
    Object.assign(this.slider, { type: "range", min: 0, max: this.last })
    this.slider.setAttribute("aria-label", "Step")
    this.slider.oninput = () => this.seek(Number(this.slider.value))
    this.slider.onchange = () => this.rest()
    const speed = chooser("Speed", SPEEDS.map((s) => [s, `${s}×`]), 1, (v) => (this.speed = Number(v)))
    const unit = chooser("Step by", [["chunk", "by chunk"], ["event", "by event"]], "chunk", (v) => {
      this.unit = v
      this.event = this.data.steps[this.step][4] - 1
    })
    this.place = element("span", "place")
    const bar = element("div", "controls")
    bar.append(
      button("|◀", "First step (Home)", () => this.seek(0, true)),
      button("◀", "One step back (←)", () => this.move(-1)),
      this.playButton,
      button("▶", "One step on (→)", () => this.move(1)),
      button("▶|", "Last step (End)", () => this.seek(this.last, true)),
      this.slider,
      unit,
      button("◀ finding", "Previous finding ([)", () => this.finding(-1)),
      button("finding ▶", "Next finding (])", () => this.finding(1)),
      speed,
      this.place,
    )
    this.state = element("div", "state")
    this.text = element("div", "text")
    this.text.tabIndex = 0
    this.events = element("div", "events")
    const columns = element("div", "columns")
    columns.append(this.text, this.events)
    const legend = element("div", "legend")
    for (const kind of data.kinds) legend.append(element("span", `k-${kind}`, kind.replace("-", " ")))
    this.root.replaceChildren(bar, this.state, columns, legend)
    this.root.tabIndex = 0
    this.root.onkeydown = (event) => this.key(event)
    this.heard = (event) => {
      // the first player that is seen answers to keys that were pressed elsewhere
      if (event.defaultPrevented || !this.root.checkVisibility()) return
      this.act(event.detail, event)
    }
    document.addEventListener("playground-key", this.heard)
    this.rows = []
    this.from = 0
    this.fill(0)
  }

  // The rows of the event list; of a very long one, those around `index`
  fill(index) {
    const { events } = this.data
    const many = events.length > ROWS
    this.from = many ? Math.max(0, Math.min(index - ROWS / 2, events.length - ROWS)) : 0
    const shown = events.slice(this.from, this.from + ROWS)
    this.rows = shown.map(([kind, , , , , label], at) => {
      const row = element("div", `event k-${kind}`)
      row.append(element("span", "what", kind.replace("-", " ")), element("span", "label", label))
      row.onclick = () => this.toEvent(this.from + at)
      return row
    })
    const more = (count, where) =>
      count > 0 ? [element("div", "more", `${grouped(count)} more ${where}`)] : []
    const after = events.length - this.from - shown.length
    this.events.replaceChildren(...more(this.from, "before"), ...this.rows, ...more(after, "behind"))
    this.counted = 0
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
      "[": () => this.finding(-1),
      "]": () => this.finding(1),
    }
    const action = actions[key]
    if (!action) return false
    event.preventDefault()
    action()
    return true
  }

  leave() {
    cancelAnimationFrame(this.playing)
    document.removeEventListener("playground-key", this.heard)
  }

  move(direction) {
    if (this.unit === "chunk") return this.seek(this.step + direction, true)
    const at = this.event < 0 ? this.data.steps[this.step][4] - (direction > 0 ? 1 : 0) : this.event
    return this.toEvent(at + direction)
  }

  // An event is whole at the step that gave its last character
  toEvent(index) {
    const { events } = this.data
    if (!events.length) return
    const at = Math.max(0, Math.min(index, events.length - 1))
    this.seek(events[at][4], false, at)
    this.rest()
  }

  finding(direction) {
    const { events } = this.data
    const found = events.map((e, i) => [e, i]).filter(([e]) => e[0] === "finding")
    const here = ([e, i]) => (this.event >= 0 ? i - this.event : e[4] - this.step)
    const next = direction > 0 ? found.find((f) => here(f) > 0) : found.filter((f) => here(f) < 0).pop()
    if (next) this.toEvent(next[1])
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
      let step = this.step
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
    this.draw()
    if (resting) this.rest()
  }

  draw() {
    const [, stop, state, given, count, kind] = this.data.steps[this.step]
    this.drawText(stop)
    this.slider.value = this.step
    const where = this.step === this.last ? "end of the stream" : `chunk ${grouped(this.step + 1)} of ${grouped(this.last)}`
    const time = this.data.timing === "none" ? "" : ` · ${seconds(this.times[this.step])}`
    this.place.textContent = `${where}${time} · ${TIMING[this.data.timing]}`
    const [mode, detail, held] = this.data.states[state]
    this.state.replaceChildren(
      element("span", "mode", mode),
      element("span", "", detail),
      element("span", "held", held ? `held: ${isolated(JSON.stringify(held))}` : ""),
      element("span", "given", given ? `${kind}: ${isolated(JSON.stringify(given))}` : kind),
    )
    this.drawEvents(count)
  }

  drawText(stop) {
    const { segments, text } = this
    let want = this.shown
    while (want > 0 && segments[want - 1][1] >= stop) want -= 1
    while (want < segments.length && segments[want][1] < stop) want += 1
    if (want < this.shown) {
      const behind = document.createRange()
      behind.setStart(text, want)
      behind.setEnd(text, this.shown)
      behind.deleteContents()
    }
    const fresh = document.createDocumentFragment()
    for (let index = Math.max(0, Math.min(this.shown, want) - 1); index < want; index += 1) {
      const [kind, start, end] = segments[index]
      const part = this.slice(start, Math.min(end, stop))
      const node = index < this.shown ? text.childNodes[index] : element("span", `k-${kind}`)
      if (node.textContent !== part) node.textContent = part
      if (index >= this.shown) fresh.append(node)
    }
    text.append(fresh)
    this.shown = want
    text.scrollTop = text.scrollHeight
  }

  drawEvents(count) {
    const now = this.event >= 0 ? this.event : count - 1
    if (now >= 0 && (now < this.from || now >= this.from + this.rows.length)) this.fill(now)
    const want = Math.max(0, Math.min(count - this.from, this.rows.length))
    for (let i = want; i < this.counted; i += 1) this.rows[i].classList.remove("past")
    for (let i = this.counted; i < want; i += 1) this.rows[i].classList.add("past")
    this.counted = want
    this.current?.classList.remove("now")
    this.current = this.rows[now - this.from]
    if (!this.current) return
    this.current.classList.add("now")
    this.events.scrollTop = this.current.offsetTop - this.events.clientHeight + 40
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
  if (component !== undefined) return mount(component)
  return {
    render({ model, el }) {
      el.append(element("div", "player"))
      return mount({ data: model.get("data"), parentElement: el, setStateValue: () => {} })
    },
  }
}
