// The stream player: fed once, it owns position, speed and keys; it reports only when it rests.
// Text is drawn in segments, of which a step rewrites the last one at most.

const mounted = new WeakMap()
const SPEEDS = [0.25, 0.5, 1, 2, 5, 20]
const BLOCK = 4096

function element(tag, className, text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

function button(label, title, action) {
  const node = element("button", "", label)
  node.type = "button"
  node.title = title
  node.setAttribute("aria-label", title)
  node.onclick = action
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
    this.step = Math.min(data.step, data.steps.length - 1)
    this.playing = 0
    this.speed = 1
    this.shown = 0
    this.build()
    this.draw()
  }

  slice(start, stop) {
    return this.points ? this.points.slice(start, stop).join("") : this.data.text.slice(start, stop)
  }

  build() {
    const { data } = this
    this.playButton = button("Play", "Play or pause (space)", () => this.toggle())
    this.slider = element("input", "slider")
    Object.assign(this.slider, { type: "range", min: 0, max: data.steps.length - 1 })
    this.slider.setAttribute("aria-label", "Step")
    this.slider.oninput = () => this.seek(Number(this.slider.value))
    this.slider.onchange = () => this.rest()
    this.speedSelect = element("select", "")
    this.speedSelect.title = "Speed"
    for (const speed of SPEEDS) {
      const option = element("option", "", `${speed}×`)
      option.value = speed
      option.selected = speed === 1
      this.speedSelect.append(option)
    }
    this.speedSelect.onchange = () => (this.speed = Number(this.speedSelect.value))
    this.place = element("span", "place")
    const bar = element("div", "bar")
    bar.append(
      button("|◀", "First step (Home)", () => this.seek(0, true)),
      button("◀", "One step back (←)", () => this.seek(this.step - 1, true)),
      this.playButton,
      button("▶", "One step on (→)", () => this.seek(this.step + 1, true)),
      button("▶|", "Last step (End)", () => this.seek(data.steps.length - 1, true)),
      this.slider,
      button("next finding", "Next finding (])", () => this.finding(1)),
      this.speedSelect,
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
    this.rows = data.events.map(([kind, , , step, label]) => {
      const row = element("div", `event k-${kind}`)
      row.append(element("span", "what", kind.replace("-", " ")), element("span", "label", label))
      row.onclick = () => this.seek(step, true)
      return row
    })
    this.events.append(...this.rows)
  }

  key(event) {
    if (event.target.tagName === "SELECT") return
    const slider = event.target === this.slider
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: slider ? null : () => this.seek(this.step - 1, true),
      ArrowRight: slider ? null : () => this.seek(this.step + 1, true),
      Home: () => this.seek(0, true),
      End: () => this.seek(this.data.steps.length - 1, true),
      "[": () => this.finding(-1),
      "]": () => this.finding(1),
    }
    const action = actions[event.key]
    if (!action || (event.key === " " && event.target.tagName === "BUTTON")) return
    event.preventDefault()
    event.stopPropagation()
    action()
  }

  finding(direction) {
    const steps = this.data.events.filter((e) => e[0] === "finding").map((e) => e[3])
    const next = direction > 0
      ? steps.find((step) => step > this.step)
      : steps.filter((step) => step < this.step).pop()
    if (next !== undefined) this.seek(next, true)
  }

  toggle() {
    if (this.playing) return this.pause()
    const steps = this.data.steps
    if (this.step === steps.length - 1) this.seek(0)
    this.playButton.textContent = "Pause"
    let last = performance.now()
    let clock = steps[this.step][0]
    const frame = (now) => {
      clock += ((now - last) / 1000) * this.speed
      last = now
      let step = this.step
      while (step < steps.length - 1 && steps[step + 1][0] <= clock) step += 1
      if (step !== this.step) this.seek(step)
      if (step === steps.length - 1) return this.pause()
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

  seek(step, resting = false) {
    this.step = Math.max(0, Math.min(step, this.data.steps.length - 1))
    this.draw()
    if (resting) this.rest()
  }

  draw() {
    const [at, stop, state, given, count] = this.data.steps[this.step]
    this.drawText(stop)
    this.slider.value = this.step
    const last = this.data.steps.length - 1
    const where = this.step === last ? "end of the stream" : `chunk ${this.step + 1} of ${last}`
    this.place.textContent = `${where} · ${at.toFixed(2)} s (${this.data.timing})`
    const [mode, detail, held] = this.data.states[state]
    this.state.replaceChildren(
      element("span", "mode", mode),
      element("span", "", detail),
      element("span", "held", held ? `held: ${JSON.stringify(held)}` : ""),
      element("span", "given", given ? `chunk: ${JSON.stringify(given)}` : ""),
    )
    this.drawEvents(count)
  }

  drawText(stop) {
    let want = this.shown
    while (want > 0 && this.segments[want - 1][1] >= stop) want -= 1
    while (want < this.segments.length && this.segments[want][1] < stop) want += 1
    while (this.text.childNodes.length > want) this.text.lastChild.remove()
    const redraw = Math.max(0, Math.min(this.shown, want) - 1)
    for (let index = redraw; index < want; index += 1) {
      const [kind, start, end] = this.segments[index]
      let node = this.text.childNodes[index]
      if (!node) {
        node = element("span", `k-${kind}`)
        this.text.append(node)
      }
      const part = this.slice(start, Math.min(end, stop))
      if (node.textContent !== part) node.textContent = part
    }
    this.shown = want
    this.text.scrollTop = this.text.scrollHeight
  }

  drawEvents(count) {
    const before = this.counted ?? 0
    for (let i = count; i < before; i += 1) this.rows[i].classList.remove("past")
    for (let i = before; i < count; i += 1) this.rows[i].classList.add("past")
    if (before) this.rows[before - 1]?.classList.remove("now")
    const current = this.rows[count - 1]
    current?.classList.add("now")
    if (current) this.events.scrollTop = current.offsetTop - this.events.clientHeight + 40
    this.counted = count
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
  if (before) cancelAnimationFrame(before.playing)
  const player = new Player(root, data, (step) => setStateValue("position", step))
  mounted.set(root, player)
  return () => cancelAnimationFrame(mounted.get(root)?.playing)
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
