// A conversation and its cache: the answer, one request to scale with its marks, all requests as
// bars, the findings, and the chosen block. Blocks and bars are drawn on canvases (three thousand at
// sixty frames a second); marks are buttons, so that they can have the focus.

const mounted = new WeakMap()
const OUTCOMES = { read: "read", written: "written", uncached: "full price" } // key → its words
const TIERS = { tools: "tools", system: "system", assistant: "assistant", user: "user, results" }
const [TOP, TALL, BELOW, CHART] = [42, 40, 12, 104] // heights in pixels: above the blocks, blocks, outcome, chart
const HEAD = 25 // pixels of a mark's head with the space beside it

function tierOf([tier, , role]) {
  if (tier !== "messages") return tier
  return role === "assistant" || role === "model" ? "assistant" : "user"
}

class Strip {
  constructor(root, data, report) {
    this.root = root
    this.report = report
    this.take(data)
    this.now = data.opens ?? this.requests.length - 1 // the request with the break that the sentence names
    this.chosen = -1
    this.build()
    this.choose((data.opens && this.request.differs) ?? this.firstSeen())
    this.sizes = new ResizeObserver(() => this.draw(true))
    this.sizes.observe(root)
    this.scheme = matchMedia("(prefers-color-scheme: dark)")
    this.scheme.onchange = () => setTimeout(() => this.draw(true), 300) // after the app's theme has changed
    this.unheard = hearKeys(root, (key, event) => this.key(key, event))
    this.late = () => this.offer(globalThis.playgroundPolicies)
    document.addEventListener("playground-policies", this.late)
    this.late()
  }

  leave() {
    this.sizes.disconnect()
    this.scheme.onchange = null
    this.unheard()
    document.removeEventListener("playground-policies", this.late)
  }

  take(data) {
    this.data = data
    this.requests = this.whole(data.requests)
    this.most = Math.max(1, data.minimum, ...this.requests.map((r) => r.total))
  }

  // Return the tokens read, written and at full price: as billed, or else as predicted
  outcome(request) {
    return request.billed ?? [request.read, request.written, request.uncached]
  }

  // Complete the requests: each has only the blocks that the one before it does not have
  whole(requests) {
    let before = []
    return requests.map((request) => {
      before = [...before.slice(0, request.shared), ...request.blocks]
      const total = request.read + request.written + request.uncached
      let end = 0
      const ends = before.map((block) => (end += block[3]))
      return { ...request, blocks: before, ends, total }
    })
  }

  get request() {
    return this.requests[this.now]
  }

  get movable() {
    return this.data.movable && this.now === this.requests.length - 1
  }

  // Return the last block with a mark, or else the last block
  firstSeen() {
    const { marks, blocks } = this.request ?? { marks: [], blocks: [] }
    return marks.length ? marks[marks.length - 1][0] : blocks.length - 1
  }

  build() {
    const { data } = this
    const left = element("div", "left")
    const below = element("div", "below")
    this.policies = element("section", "card bars")
    this.policies.setAttribute("aria-label", "Policies")
    below.append(this.buildFindings(), this.policies)
    left.append(this.buildStrip(), this.buildChart(), below)
    this.side = element("section", "card side")
    this.side.setAttribute("aria-label", "The chosen block")
    const predicted = element("div", "predicted")
    predicted.append(element("span", "tag", "predicted"), ...data.predicted.map((word) => element("span", "", word)))
    predicted.hidden = !data.predicted.length
    const grid = element("div", "grid")
    grid.append(headline(data), predicted, left, this.side)
    this.root.replaceChildren(grid)
    this.root.tabIndex = -1
    this.root.onpointerdown = () => (this.used = true)
    this.root.onkeydown = (event) => {
      if (event.target !== this.slider && this.key(event.key, event)) event.stopPropagation()
    }
  }

  buildStrip() {
    const last = this.requests.length - 1
    this.slider = element("input", "slider")
    Object.assign(this.slider, { type: "range", min: 0, max: last })
    this.slider.setAttribute("aria-label", "Request")
    this.slider.oninput = () => this.go(Number(this.slider.value))
    this.place = element("span", "place")
    const bar = element("div", "controls")
    bar.append(
      element("b", "", "Request"),
      button("◂", "One request back (←)", () => this.go(this.now - 1)),
      this.slider,
      button("▸", "One request on (→)", () => this.go(this.now + 1)),
      this.place,
    )
    this.drawing = element("div", "drawing")
    this.canvas = element("canvas", "blocks")
    this.canvas.setAttribute("role", "img")
    this.canvas.onclick = (event) => this.choose(this.blockAt(event.offsetX))
    this.drawing.append(this.canvas)
    this.why = element("div", "why")
    const priced = ([name, word]) => [name, `${word} ${name === "uncached" ? "" : (this.data.prices[name] ?? "")}`]
    const mark = ["mark", "cache_control, and how far it looks back"]
    const legend = drawLegend([...Object.entries(TIERS), ...Object.entries(OUTCOMES).map(priced), mark])
    const card = element("section", "card")
    card.setAttribute("aria-label", "The conversation")
    card.append(bar, this.drawing, legend, this.why)
    return card
  }

  buildChart() {
    const isBilled = this.requests.some((request) => request.billed)
    this.bars = this.requests.map((r) => (isBilled && !r.billed ? [0, 0, 0] : this.outcome(r)))
    const line = element("div", "line")
    line.append(element("b", "", "All requests"), element("span", "quiet", `tokens${isBilled ? " as billed" : ""}: read, written, at full price`))
    this.flags = element("div", "flags")
    this.chart = element("canvas", "chart")
    this.chart.setAttribute("role", "img")
    this.chart.setAttribute("aria-label", `${counted(this.bars.length, "request")} as bars: each is chosen by Request above`)
    this.chart.onclick = (event) => this.go(Math.floor((event.offsetX / this.chart.clientWidth) * this.bars.length))
    const card = element("section", "card")
    card.setAttribute("aria-label", "All requests")
    card.append(line, this.flags, this.chart)
    return card
  }

  buildFindings() {
    const card = (this.findings = element("section", "card findings"))
    card.setAttribute("aria-label", "Findings")
    const line = element("div", "line")
    line.append(element("b", "", "Findings"), element("span", "quiet", "and what to do"))
    card.append(line)
    for (const [what, where, fix, number] of this.data.findings) {
      const one = element("div", "finding")
      const isOfRequest = number !== null && number < this.requests.length
      const name = isOfRequest ? button(what, `Show request ${number + 1}`, () => this.show(number)) : element("b", "", what)
      one.append(name, element("span", "quiet", where), element("p", "", fix))
      card.append(one)
    }
    return card
  }

  // Show the policies, which are simulated after the strip is drawn. A cheaper one is offered at the
  // finding that it mends
  offer(policies) {
    const { title, note, rows = [], remedy, take } = policies ?? {}
    const line = element("div", "line")
    line.append(element("b", "", title), element("span", "quiet", note))
    this.policies.replaceChildren(line, ...barRows(rows, take))
    this.policies.hidden = !rows.length
    this.offered?.remove()
    const [, ...all] = this.findings.children
    this.findings.hidden = !all.length && !remedy
    if (!remedy) return
    this.offered = button(remedy.label, remedy.label, () => take(remedy.key))
    this.offered.className = "remedy"
    ;(all.at(remedy.finding ?? all.length) ?? this.findings).append(this.offered)
  }

  key(key, event) {
    const actions = {
      ArrowLeft: () => this.go(this.now - 1),
      ArrowRight: () => this.go(this.now + 1),
      "[": () => this.toBreak(-1),
      "]": () => this.toBreak(1),
    }
    if (!actions[key]) return false
    event.preventDefault()
    actions[key]()
    return true
  }

  toBreak(direction) {
    const at = this.data.breaks.map(([number]) => number).filter((n) => (n - this.now) * direction > 0)
    if (at.length) this.show(direction > 0 ? at[0] : at[at.length - 1])
  }

  go(index) {
    this.used = true // from now on, the user chooses the request
    this.now = Math.max(0, Math.min(index, this.requests.length - 1))
    if (this.chosen >= (this.request?.blocks.length ?? 0)) this.chosen = this.firstSeen()
    this.draw()
  }

  // Show the request of a finding or a break, at the block that differs
  show(number) {
    this.go(number)
    this.choose(this.request.differs ?? this.firstSeen())
    this.root.scrollIntoView({ block: "start" })
  }

  choose(index) {
    if (!this.request) return
    this.chosen = Math.max(0, Math.min(index, this.request.blocks.length - 1))
    this.draw()
  }

  blockAt(x) {
    const tokens = (x / this.width) * this.most
    return Math.min(firstPast(this.request.ends, (end) => end >= tokens), this.request.blocks.length - 1)
  }

  at(tokens) {
    return `${(100 * tokens) / this.most}%`
  }

  // Return a colour of the style sheet in the form that a canvas takes
  ink(name) {
    if (!this.inks.has(name)) {
      this.probe ??= this.root.appendChild(element("i", ""))
      this.probe.style.color = `var(--${name})`
      this.inks.set(name, getComputedStyle(this.probe).color)
    }
    return this.inks.get(name)
  }

  // Read sizes and colours once: in each frame, the browser would have to lay out the page
  measure() {
    this.inks = new Map()
    this.width = this.root.clientWidth && this.drawing.clientWidth
    this.chartWidth = this.chart.parentNode.clientWidth - 28
  }

  surface(canvas, width, height) {
    const dots = devicePixelRatio || 1
    Object.assign(canvas, { width: width * dots, height: height * dots })
    canvas.style.height = `${height}px`
    canvas.style.width = `${width}px`
    const context = canvas.getContext("2d")
    context.scale(dots, dots)
    return context
  }

  // Draw the request; `anew` if the sizes or the colours may have changed
  draw(anew = !this.width) {
    const { request } = this
    if (anew) this.measure()
    if (!request || !this.width) return
    const count = this.requests.length
    this.slider.value = this.now
    const sums = this.outcome(request)
    const told = Object.values(OUTCOMES).map((word, i) => `${word} ${grouped(sums[i])}`)
    const [low, high] = request.range
    const size = low === high ? grouped(request.total) : `~${grouped(request.total)}`
    // A bill is shown with its own total, a prediction with the estimated total and its certainty.
    const billed = grouped(sums.reduce((one, other) => one + other))
    const outcome = request.billed
      ? `billed: ${told.join(" · ")} of ${billed} · predicted: read ${grouped(request.read)} of ${size}, ${request.state}`
      : `${told.join(" · ")} of ${size} · ${request.state}`
    const place = `${grouped(this.now + 1)} of ${grouped(count)} · at ${seconds(request.at)}`
    // A narrow screen shows the outcome below the drawing.
    this.place.replaceChildren(place, element("span", "outcome", ` · ${outcome}`))
    this.why.replaceChildren(element("div", "outcome", outcome), request.reason)
    this.drawBlocks()
    this.drawSigns()
    if (anew) this.drawChart()
    this.drawNow()
    this.say()
  }

  drawBlocks() {
    const { request, width } = this
    const context = this.surface(this.canvas, width, TOP + TALL + BELOW + 30)
    const scale = width / this.most
    const inks = Object.fromEntries(["tools", "system", "assistant", "user", ...Object.keys(OUTCOMES), "quiet", "accent"].map((n) => [n, this.ink(n)]))
    request.blocks.forEach((block, index) => {
      const [from, size] = [request.ends[index] - block[3], block[3]]
      context.fillStyle = inks[tierOf(block)]
      context.fillRect(from * scale, TOP, Math.max(0.7, size * scale - (size * scale > 3 ? 1 : 0)), TALL)
    })
    const sums = this.outcome(request)
    // A bill may be the sum of several rounds: scale it to the length of the request that is drawn.
    const share = request.total / Math.max(1, sums.reduce((one, other) => one + other))
    let from = 0
    Object.keys(OUTCOMES).forEach((name, at) => {
      context.fillStyle = inks[name]
      context.fillRect(from * scale, TOP + TALL + 5, sums[at] * share * scale, BELOW)
      from += sums[at] * share
    })
    context.strokeStyle = inks.accent
    for (const [mark, back] of request.marks) {
      const start = (back > 0 ? request.ends[back - 1] : 0) * scale
      const stop = request.ends[mark] * scale
      context.strokeRect(start + 0.5, TOP - 5.5, Math.max(1, stop - start), 5)
      context.strokeRect(stop - 0.5, TOP - 5, 0.5, TALL + BELOW + 14)
    }
    context.lineWidth = 2
    const box = (index, ink, inset) => {
      if (!request.blocks[index]) return
      const size = request.blocks[index][3] * scale
      context.strokeStyle = ink
      context.strokeRect((request.ends[index] * scale) - size + inset, TOP - 2, Math.max(3, size - 2 * inset), TALL + 4)
    }
    if (request.differs !== null) box(request.differs, inks.uncached, 1)
    box(this.chosen, this.ink("ink"), 1)
    context.fillStyle = inks.quiet
    context.font = "11px sans-serif"
    const step = [100, 200, 500].flatMap((n) => [1, 10, 100, 1e3, 1e4].map((m) => n * m)).sort((a, b) => a - b).find((n) => this.most / n < Math.min(8, width / 60))
    for (let tokens = 0; tokens <= this.most; tokens += step) {
      const word = tokens ? grouped(tokens) : "0 tokens"
      const wide = context.measureText(word).width
      context.fillText(word, Math.min(Math.max(0, tokens * scale - (tokens ? wide / 2 : 0)), width - wide), TOP + TALL + BELOW + 24)
    }
    const told = Object.values(OUTCOMES).map((word, at) => `${word} ${grouped(sums[at])}`)
    this.canvas.setAttribute("aria-label", `${counted(request.blocks.length, "block")}, ${counted(request.marks.length, "mark")}, ${request.billed ? "billed: " : ""}${told.join(", ")} tokens`)
  }

  // Draw the marks, and the lines that they must reach
  drawSigns() {
    const focused = this.root.getRootNode().activeElement?.dataset?.block
    for (const old of this.drawing.querySelectorAll(".pin, .limit")) old.remove()
    // The heads of close marks are moved apart; their lines stay at the marks.
    const { width } = this
    const places = this.request.marks.map(([mark]) => (this.request.ends[mark] / this.most) * width)
    places.forEach((_, at) => at && (places[at] = Math.max(places[at], places[at - 1] + HEAD)))
    for (let at = places.length - 1; at >= 0; at -= 1) places[at] = Math.min(places[at], at === places.length - 1 ? width : places[at + 1] - HEAD)
    this.request.marks.forEach(([mark, back, ttl], at) => this.drawing.append(this.pin(mark, back, ttl, places[at])))
    const line = (name, tokens, words) => {
      const node = element("div", `limit ${name}`)
      node.style.left = this.at(Math.min(tokens, this.most))
      node.append(element("span", tokens > this.most / 2 ? "before" : "", words))
      this.drawing.append(node)
    }
    if (this.data.minimum) line("least", this.data.minimum, `minimum ${grouped(this.data.minimum)} tokens`)
    const limit = this.data.threshold
    if (limit) {
      // The threshold is in characters: scale it by the characters and the tokens of the last request.
      const end = this.requests[this.requests.length - 1].total
      const at = Math.min(this.most, (end * limit.of) / Math.max(1, limit.characters))
      const isNear = (Math.abs(at - this.data.minimum) / this.most) * width < 320 // then the label goes lower
      line(isNear ? "characters low" : "characters", at, `threshold ${grouped(limit.of)} characters · here ${grouped(limit.characters)}`)
    }
    if (focused !== undefined) this.drawing.querySelector(`.pin[data-block="${focused}"]`)?.focus()
  }

  pin(mark, back, ttl, left) {
    const place = `mark on block ${mark} (${ttl}), looks back to block ${back}`
    const node = button("", place, () => this.choose(mark))
    node.className = this.movable ? "pin movable" : "pin"
    node.dataset.block = mark
    node.style.left = `${left}px`
    if (!this.movable) return node
    node.title = `${place}. Drag it, or ← and →; Delete takes it away`
    node.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
      if (!step && event.key !== "Delete") return
      event.preventDefault()
      event.stopPropagation()
      this.move(mark, step ? this.nextPart(mark, step) : -1)
    }
    node.onpointerdown = (event) => {
      node.setPointerCapture(event.pointerId)
      const box = this.canvas.getBoundingClientRect()
      node.onpointermove = ({ clientX }) => {
        this.target = this.nearestPart(this.blockAt(Math.max(0, Math.min(clientX - box.left, box.width))))
        node.style.left = this.at(this.request.ends[this.target])
      }
    }
    node.onpointerup = () => {
      node.onpointermove = null
      if (this.target !== undefined) this.move(mark, this.target)
      this.target = undefined
    }
    return node
  }

  nextPart(from, step) {
    let at = from + step
    while (at >= 0 && at < this.data.parts.length && !this.data.parts[at]) at += step
    return this.data.parts[at] ? at : from
  }

  nearestPart(from) {
    for (let apart = 0; apart < this.data.parts.length; apart += 1) {
      for (const at of [from - apart, from + apart]) if (this.data.parts[at]) return at
    }
    return from
  }

  // Move a mark from one block to another; `from` -1 sets a mark, `to` -1 clears one
  move(from, to) {
    const origin = (index) => this.data.parts[index]?.[0] ?? ""
    if (from !== to && (origin(from) || origin(to))) this.report(`${origin(from)}>${origin(to)}`)
  }

  barSize() {
    const wide = this.chartWidth / this.bars.length
    return [wide, wide > 4 ? Math.min(6, wide / 6) : 0]
  }

  // Draw a line below the bar of the shown request, the only part of the chart that it changes
  drawNow() {
    const [wide, gap] = this.barSize()
    const context = this.chart.getContext("2d")
    context.clearRect(0, CHART - 15, this.chartWidth, 2)
    context.fillStyle = this.ink("ink")
    context.fillRect(this.now * wide + gap / 2, CHART - 15, Math.max(3, wide - gap), 2)
  }

  drawChart() {
    const width = this.chartWidth
    const context = this.surface(this.chart, width, CHART)
    const most = Math.max(1, ...this.bars.map(([read, written, full]) => read + written + full))
    const [wide, gap] = this.barSize()
    const inks = Object.keys(OUTCOMES).map((name) => this.ink(name))
    this.bars.forEach((bar, index) => {
      let top = CHART - 16
      bar.forEach((size, kind) => {
        const height = (size / most) * (CHART - 18)
        context.fillStyle = inks[kind]
        context.fillRect(index * wide + gap / 2, top - height, Math.max(0.6, wide - gap), height)
        top -= height
      })
    })
    context.font = "11px sans-serif"
    context.fillStyle = this.ink("quiet")
    const every = Math.ceil(34 / wide)
    this.bars.forEach((_, index) => {
      if ((index + 1) % every && every > 1) return
      const word = grouped(index + 1)
      context.fillText(word, index * wide + wide / 2 - context.measureText(word).width / 2, CHART - 2)
    })
    this.flags.replaceChildren(...this.data.breaks.map(([number, words]) => {
      const flag = button(words, `Request ${words} cached tokens not read`, () => this.show(number))
      flag.style.left = `${Math.min(92, (100 * number) / this.bars.length)}%`
      return flag
    }))
    this.flags.hidden = !this.data.breaks.length
  }

  say() {
    const block = this.request.blocks[this.chosen]
    if (!block) return this.side.replaceChildren(element("p", "quiet", "This request has no block."))
    const [tier, kind, role, size, given, length, from] = block
    const text = from ? given : beginning(given, upToData(given))
    const line = element("div", "line")
    line.append(element("b", "", `Block ${this.chosen}`), element("span", "tag", [role || tier, kind].join(" ")))
    line.append(
      button("◂", "The block before", () => this.choose(this.chosen - 1)),
      button("▸", "The next block", () => this.choose(this.chosen + 1)),
      copyButton("block", () => given),
    )
    const facts = element("dl", "")
    const fact = (name, value) => facts.append(element("dt", "", name), element("dd", "", value))
    fact("characters", grouped(length))
    fact("tokens", `~${grouped(size)}`)
    fact("up to here", `~${grouped(this.request.ends[this.chosen])}`)
    fact(this.request.billed ? "by its bill" : "this request", this.fate())
    this.side.replaceChildren(line, facts, ...this.decision())
    const pre = element("pre", "", text)
    pre.tabIndex = 0
    this.side.append(pre)
    if (this.chosen === this.request.differs) this.markChange(pre, this.request.character - from)
    const shown = characters(text)
    if (length > shown) this.side.append(element("p", "quiet", `characters ${grouped(from + 1)} to ${grouped(from + shown)} of ${grouped(length)}`))
  }

  // Mark the place where a request differs from the one before it, and scroll to it
  markChange(pre, at) {
    const text = [...pre.textContent]
    const rest = text.slice(at).join("")
    const [word] = /^(\s+|\S+)?/.exec(rest)
    const mark = element("mark", "", word)
    pre.replaceChildren(text.slice(0, at).join(""), mark, rest.slice(word.length))
    pre.scrollTop = mark.offsetTop - pre.offsetTop - 60
  }

  // Return the chosen block's fate, by the bill if there is one: then the estimated tokens are scaled to
  // the billed ones. Some billed tokens belong to no block, so the middle of the block decides.
  fate() {
    const { request, chosen } = this
    const [read, written, rest] = request.billed ?? [request.read, request.written, 0]
    const { ends } = request
    const middle = ((ends[chosen - 1] ?? 0) + ends[chosen]) / 2
    const at = request.billed ? (middle * (read + written + rest)) / (ends.at(-1) || 1) : ends[chosen]
    if (at <= read) return "read from the cache"
    return at <= read + written ? "written" : "at full price"
  }

  decision() {
    const { request, chosen, data } = this
    const marked = request.marks.some(([mark]) => mark === chosen)
    const [, last, reason] = data.parts[chosen] ?? [0, false, ""] // these are the last request's
    const node = element("div", marked ? "decision marked" : "decision")
    const words = marked ? "Marked" : "Not marked"
    const why = marked === Boolean(last) ? reason : marked ? "in this request, but not in the last one" : "in this request, but marked in the last one"
    node.append(element("b", "", words), why ? `: ${why}` : data.parts.length && this.movable ? ": no policy sees this block" : "")
    if (!this.movable || !data.parts[chosen]) return [node]
    const act = marked ? "Clear mark" : "Set mark"
    const set = button(act, `${act} on block ${chosen}`, () => (marked ? this.move(chosen, -1) : this.move(-1, chosen)))
    node.append(set)
    return [node]
  }
}

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".strip")
  if (!root || !data) return undefined
  const report = (value) => setTriggerValue("mark", value)
  const before = mounted.get(root)
  if (before && before.data.key === data.key) {
    before.report = report
    return undefined
  }
  const strip = new Strip(root, data, report)
  if (before) {
    before.leave()
    strip.used = before.used && before.requests.length === strip.requests.length
    if (strip.used) strip.go(before.now) // after a change of the policy, the place stays
    if (strip.used && before.chosen < strip.request.blocks.length) strip.choose(before.chosen)
  }
  mounted.set(root, strip)
  return () => mounted.get(root)?.leave()
}

export default function host(component) {
  return hosted(component, "strip", mount)
}
