// The heads of the panes: names, figures, and a link to the next pane beyond the right edge.

// Where Compare lists what a figure counts
const LISTED = {
  "facts lost": { view: "Tools", title: "Which facts: the view Tools lists them" },
  findings: { title: "Listed below the columns" },
}

function addressWith(name, value) {
  const address = new URL(location.href)
  address.searchParams.set(name, value)
  return address.href
}

class Headed extends Searchable {
  drawHead() {
    const row = element("div", "head")
    row.setAttribute("role", "row")
    row.setAttribute("aria-rowindex", 1)
    this.data.panes.forEach((pane, at) => {
      const node = element("div", "pane")
      node.setAttribute("role", "columnheader")
      node.append(element("strong", "", pane.name))
      if (!this.figures[at]) node.append(element("span", "count", pane.note))
      node.append(copyButton(`all of ${pane.name}`, () => this.whole(at)))
      node.append(...(this.figures[at] ?? []).map(([value, of, tone]) => {
        const place = this.mayEdit && tone && LISTED[of]
        const figure = element(place?.view ? "a" : "span", `figure ${tone}`)
        if (place) figure.title = place.title
        if (place?.view) figure.href = addressWith("view", place.view)
        figure.append(element("b", "", value), element("small", "", of))
        return figure
      }))
      row.append(node)
    })
    return row
  }

  // Return a section's name, and its number of characters in each pane as bars and figures
  drawSection(section) {
    const sizes = this.data.panes.map((pane) => pane.parts?.[section])
    const found = [element("strong", "section", section)]
    if (sizes.includes(undefined)) return found
    const bars = element("span", "bars")
    const most = Math.max(1, ...sizes)
    for (const size of sizes) {
      const bar = element("i")
      bar.style.height = `${Math.max(1, (14 * size) / most)}px`
      bars.append(bar)
    }
    const told = `${sizes.map((size) => grouped(size)).join(" · ")} characters`
    return [...found, bars, element("span", "sizes", told)]
  }

  // Show figures that were computed after the panes were drawn, in the order of the panes
  note(figures) {
    if (figures.flat().join("\n") === this.figures.flat().join("\n")) return
    this.figures = figures
    const head = this.drawHead()
    this.head.replaceWith(head)
    this.head = head
    this.stack()
  }

  // Return a request's text: its blocks in order, with an empty line between two messages
  whole(pane) {
    let text = ""
    for (const [, blocks] of this.data.panes[pane].cells) {
      for (const [number, , role] of blocks) {
        text += (role && text ? "\n\n" : "") + this.data.texts[number]
      }
    }
    return text
  }

  // Return the first pane that is not completely in sight at the right edge
  beyond() {
    const { scrollLeft, clientWidth } = this.scroller
    return Math.floor((scrollLeft + clientWidth + 1) / this.column)
  }

  // Build tabs for a narrow screen, where one column fills the screen; return true if it is narrow
  buildTabs() {
    const { panes } = this.data
    const isNarrow = this.width <= NARROW && panes.length > 1
    this.scroller.classList.toggle("narrow", isNarrow)
    this.tabs.hidden = !isNarrow
    this.tabs.replaceChildren(...panes.map(({ name }, at) => button(name, `Show ${name}`, () => this.scrollAside(at))))
    return isNarrow
  }

  // On a narrow screen, show another column if the shown one has nothing in this row
  showText(row) {
    const cells = this.cells[row] ?? []
    if (this.tabs.hidden || cells[Math.round(this.scroller.scrollLeft / this.column)]) return
    this.scrollAside(Math.max(0, cells.findIndex(Boolean)))
  }

  tellAside() {
    const { panes } = this.data
    if (!this.tabs.hidden) {
      const at = Math.round(this.scroller.scrollLeft / this.column)
      ;[...this.tabs.children].forEach((tab, number) => tab.setAttribute("aria-pressed", number === at))
      this.aside.hidden = true
      return
    }
    const next = panes[this.beyond()]
    this.aside.hidden = !next
    if (!next) return
    this.aside.textContent = `${next.name} ▸`
    this.aside.title = `Show the next pane: ${next.name}`
    this.aside.setAttribute("aria-label", this.aside.title)
  }

  scrollAside(pane) {
    const left = pane * this.column
    const { scrollLeft, clientWidth } = this.scroller
    if (left < scrollLeft || left + this.column > scrollLeft + clientWidth) this.scroller.scrollLeft = left
  }
}

const SECTIONS = {
  rules: "Rules",
  tools: "Tools",
  tool: "Tools",
  agent: "Prompts",
  system: "Prompts",
  "system-rules": "Prompts",
  "user-prompt": "Prompts",
  message: "History",
  environment: "History",
}

function sectionOf(origin) {
  return SECTIONS[origin.split(":")[0]]
}
