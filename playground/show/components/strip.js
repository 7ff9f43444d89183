// The cache strip: one request at a time, every block to scale, where marks stand and what they do.
// All requests share one scale, so that the history is seen to grow.

const mounted = new WeakMap()
const OUTCOMES = { read: "read", written: "written", uncached: "full price" } // and their words

class Strip {
  constructor(root, data) {
    this.root = root
    this.data = data
    this.requests = this.whole(data.requests)
    this.most = Math.max(1, data.minimum, ...this.requests.map((r) => r.total))
    this.now = this.requests.length - 1
    this.chosen = -1
    this.build()
    this.draw()
  }

  // A request names the blocks that the one before it does not have
  whole(requests) {
    let before = []
    return requests.map((request) => {
      before = [...before.slice(0, request.shared), ...request.blocks]
      const total = request.read + request.written + request.uncached
      return { ...request, blocks: before, total }
    })
  }

  build() {
    const last = this.requests.length - 1
    this.slider = element("input", "slider")
    Object.assign(this.slider, { type: "range", min: 0, max: last })
    this.slider.setAttribute("aria-label", "Request")
    this.slider.oninput = () => this.go(Number(this.slider.value))
    this.place = element("span", "place")
    const bar = element("div", "controls")
    bar.append(
      button("◀", "One request back (←)", () => this.go(this.now - 1)),
      this.slider,
      button("▶", "One request on (→)", () => this.go(this.now + 1)),
      this.place,
    )
    this.drawing = element("div", "drawing")
    this.figures = element("div", "figures")
    this.why = element("div", "why")
    this.block = element("div", "said")
    const legend = element("div", "legend")
    for (const name of ["tools", "system", "messages"]) legend.append(element("span", `t-${name}`, name))
    for (const [name, word] of Object.entries(OUTCOMES)) {
      legend.append(element("span", `o-${name}`, word))
    }
    legend.append(
      element("span", "sign", "▼ a mark"),
      element("span", "sign reach", "how far it looks back"),
      element("span", "sign least", "the minimum"),
      element("span", "sign differs", "where it parts from the request before"),
    )
    this.root.replaceChildren(bar, this.drawing, this.figures, this.why, this.block, legend)
    this.root.tabIndex = 0
    this.root.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
      if (!step || event.target === this.slider) return
      event.preventDefault()
      event.stopPropagation()
      this.go(this.now + step)
    }
  }

  go(index) {
    this.now = Math.max(0, Math.min(index, this.requests.length - 1))
    this.draw()
  }

  at(tokens) {
    return `${(100 * tokens) / this.most}%`
  }

  box(className, from, size) {
    const node = element("div", className)
    node.style.left = this.at(from)
    node.style.width = this.at(size)
    return node
  }

  draw() {
    const request = this.requests[this.now]
    const count = this.requests.length
    this.slider.value = this.now
    this.place.textContent = `request ${grouped(this.now + 1)} of ${grouped(count)} · at ${seconds(request.at)} · ${request.state}`
    const ends = []
    let end = 0
    for (const block of request.blocks) ends.push((end += block[3]))
    const rows = ["marks", "blocks", "outcome"].map((name) => element("div", `row ${name}`))
    this.drawMarks(rows[0], request, ends)
    this.drawBlocks(rows[1], request, ends)
    this.drawOutcome(rows[2], request)
    this.drawing.replaceChildren(...rows)
    if (this.data.minimum) {
      const line = this.box("minimum", this.data.minimum, 0)
      line.title = `the minimum: ${grouped(this.data.minimum)} tokens`
      line.append(element("span", "", `minimum ${grouped(this.data.minimum)}`))
      this.drawing.append(line)
    }
    this.drawing.setAttribute("role", "img")
    this.drawing.setAttribute("aria-label", this.told(request))
    this.figures.replaceChildren(...this.sums(request))
    this.why.textContent = request.reason
    this.say(this.chosen)
  }

  drawMarks(row, request, ends) {
    for (const [mark, from, ttl] of request.marks) {
      const start = from > 0 ? ends[from - 1] : 0
      const reach = this.box("window", start, ends[mark] - start)
      reach.title = `the mark on block ${mark} looks back to block ${from}`
      const sign = this.box("mark", ends[mark], 0)
      sign.textContent = "▼"
      sign.title = `a mark on block ${mark} (${ttl})`
      row.append(reach, sign)
    }
  }

  drawBlocks(row, request, ends) {
    const marked = new Set(request.marks.map(([mark]) => mark))
    request.blocks.forEach((block, index) => {
      const [tier, kind, role, size] = block
      const node = this.box(`block t-${tier}`, ends[index] - size, size)
      if (marked.has(index)) node.classList.add("marked")
      if (index === request.hit) node.classList.add("hit")
      if (index === request.differs) node.classList.add("differs")
      if (index === this.chosen) node.classList.add("chosen")
      node.title = `block ${index}: ${tier}, ${role} ${kind}, about ${grouped(size)} tokens`
      node.onclick = () => {
        this.chosen = index
        this.draw()
      }
      row.append(node)
    })
  }

  drawOutcome(row, request) {
    let from = 0
    for (const [name, word] of Object.entries(OUTCOMES)) {
      const node = this.box(`o-${name}`, from, request[name])
      node.title = `${word}: ${grouped(request[name])} tokens`
      if (request[name] > this.most / 12) node.textContent = word
      row.append(node)
      from += request[name]
    }
  }

  sums(request) {
    const nodes = Object.entries(OUTCOMES).map(([name, word]) =>
      element("span", `o-${name}`, `${word} ${grouped(request[name])}`),
    )
    const [low, high] = request.range
    const range = low === high ? "exact" : `really ${grouped(low)} to ${grouped(high)}`
    nodes.push(element("span", "", `of ${grouped(request.total)} tokens (${range})`))
    nodes.push(element("span", "", `cost ${grouped(request.cost, 2)} of full price`))
    if (request.billed) {
      const [read, written, uncached] = request.billed.map((each) => grouped(each))
      nodes.push(element("span", "billed", `billed: read ${read}, written ${written}, full price ${uncached}`))
    }
    return nodes
  }

  told(request) {
    const parts = Object.entries(OUTCOMES).map(([name, word]) => `${word} ${grouped(request[name])}`)
    return `${counted(request.blocks.length, "block")}, ${counted(request.marks.length, "mark")}, ${parts.join(", ")} tokens`
  }

  say(index) {
    const block = this.requests[this.now].blocks[index]
    if (!block) {
      this.block.textContent = "Click a block to see how it begins."
      return
    }
    const [tier, kind, role, size, text] = block
    const head = element("b", "", `block ${index}: ${tier}, ${role} ${kind}, about ${grouped(size)} tokens`)
    this.block.replaceChildren(head, element("div", "text", text))
  }
}

function mount({ data, parentElement }) {
  const root = parentElement.querySelector(".strip")
  if (!root || !data) return
  const before = mounted.get(root)
  if (before && before.data.key === data.key) return
  const strip = new Strip(root, data)
  if (before && before.now < strip.requests.length) strip.go(before.now) // another cell, same place
  mounted.set(root, strip)
}

export default function host(component) {
  if (component !== undefined) return mount(component)
  return {
    render({ model, el }) {
      el.append(element("div", "strip"))
      mount({ data: model.get("data"), parentElement: el })
    },
  }
}
