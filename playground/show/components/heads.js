// What stands above the panes: their names, what is known of each, and which lie beyond the edge.
class Headed extends Searchable {
  drawHead() {
    const row = element("div", "head")
    row.setAttribute("role", "row")
    row.setAttribute("aria-rowindex", 1)
    const corner = element("div", "corner", "part")
    corner.setAttribute("role", "columnheader")
    row.append(corner)
    this.data.panes.forEach((pane, at) => {
      const node = element("div", "pane")
      node.setAttribute("role", "columnheader")
      node.append(element("strong", "", pane.name))
      if (!this.figures[at]) node.append(element("span", "count", pane.note))
      node.append(copyButton(`all of ${pane.name}`, () => this.whole(at)))
      node.append(...(this.figures[at] ?? []).map(([value, of, tone]) => {
        const figure = element("span", `figure ${tone}`)
        figure.append(element("b", "", value), element("small", "", of))
        return figure
      }))
      row.append(node)
    })
    return row
  }

  // What was found out since a pane was drawn, in the order of the panes
  note(figures) {
    if (figures.flat().join("\n") === this.figures.flat().join("\n")) return
    this.figures = figures
    const head = this.drawHead()
    this.head.replaceWith(head)
    this.head = head
    this.stack()
  }

  // A request's text: its blocks as they follow one another, an empty line between two messages
  whole(pane) {
    let text = ""
    for (const [, blocks] of this.data.panes[pane].cells) {
      for (const [number, , role] of blocks) {
        text += (role && text ? "\n\n" : "") + this.data.texts[number]
      }
    }
    return text
  }

  // The first pane that is not seen whole, beyond the right edge
  beyond() {
    const { scrollLeft, clientWidth } = this.scroller
    return Math.floor((scrollLeft + clientWidth - this.first + 1) / this.column)
  }

  tellAside() {
    const { panes } = this.data
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
    const room = clientWidth - this.first
    if (left < scrollLeft || left + this.column > scrollLeft + room) this.scroller.scrollLeft = left
  }
}
