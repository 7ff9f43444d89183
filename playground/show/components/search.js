// A search through all blocks of a grid, in slices of time between which the page can react.

const SEARCHING = 20 // milliseconds of searching in each frame
const MOST_HITS = 1000000

// The occurrences of a query, row by row. Panes of a row often have the same text, so a row counts only
// the occurrences in one pane: the one with most of them, or `pane` if it has as many
class Search {
  constructor(cells, texts, done) {
    this.cells = cells // row → pane → blocks
    this.texts = texts
    this.done = done
    this.query = ""
    this.clear()
  }

  clear() {
    this.found = [] // [row, pane, block, hits before it]
    this.total = 0
    this.at = -1
    this.running = false
  }

  start(query, pane) {
    Object.assign(this, { query, pane })
    this.clear()
    cancelAnimationFrame(this.frame)
    if (!query) return this.done()
    this.pattern = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu")
    this.counts = new Map() // text → count, because panes share texts
    this.row = 0
    this.running = true
    return this.slice()
  }

  slice() {
    const stop = performance.now() + SEARCHING
    while (this.row < this.cells.length && this.total < MOST_HITS) {
      this.searchRow(this.row)
      this.row += 1
      if (performance.now() > stop) {
        this.frame = requestAnimationFrame(() => this.slice())
        return
      }
    }
    this.running = false
    this.done()
  }

  searchRow(row) {
    let [found, most] = [[], 0]
    this.cells[row].forEach((blocks, pane) => {
      const counts = blocks.map(([text]) => this.count(text))
      const sum = counts.reduce((all, count) => all + count, 0)
      if (sum > most || (sum === most && pane === this.pane)) {
        ;[found, most] = [counts.map((count, block) => [pane, block, count]), sum]
      }
    })
    for (const [pane, block, count] of found) {
      if (count) this.found.push([row, pane, block, this.total])
      this.total += count
    }
  }

  count(text) {
    if (!this.counts.has(text)) this.counts.set(text, this.positions(this.texts[text]).length)
    return this.counts.get(text)
  }

  positions(text) {
    return this.query ? [...text.matchAll(this.pattern)].map((hit) => hit.index) : []
  }

  // Return the place of a hit: row, pane, block, and the hit's number in the block's text
  place(number) {
    const after = firstPast(this.found, ([, , , before]) => before > number)
    const [row, pane, block, before] = this.found[after - 1]
    return { row, pane, block, hit: number - before }
  }

  // Return the number of the first hit in this row or below it
  firstFrom(row) {
    return this.found.find(([at]) => at >= row)?.[3] ?? 0
  }
}

// A grid that goes from hit to hit, and highlights the hits that are drawn.
class Searchable extends Cells {
  tell() {
    const { query, total, at } = this.search
    const count = `${total >= MOST_HITS ? "more than " : ""}${grouped(total)}`
    const told = at < 0 ? `${count} found` : `${grouped(at + 1)} of ${count}`
    this.said.textContent = query ? told : ""
    this.lightHits()
    if (this.typed !== "new" || this.search.running) return
    this.typed = "shown"
    this.go(0)
  }

  seek() {
    this.search.start(this.box.value, Math.round(this.scroller.scrollLeft / this.column))
  }

  // Go on by `step` hits; with 0, as while the user types, show the first hit from here on
  go(step) {
    const { search } = this
    if (step) this.typed = ""
    if (!search.total) return
    const here = search.firstFrom(this.anchor().row) - (step > 0 ? 1 : 0)
    search.at = ((search.at < 0 ? here : search.at) + step + search.total) % search.total
    this.tell()
    this.reveal(search.place(search.at))
  }

  reveal({ row, pane, block, hit }) {
    const text = this.data.texts[this.cells[row][pane][block][0]]
    const position = this.search.positions(text)[hit]
    const key = `${row} ${pane} ${block}`
    if (this.isFolded(row)) this.showMore(row, `${row} folded`, text.length)
    else if (position + this.search.query.length > this.shown(key, text)) {
      this.showMore(row, key, Math.min(text.length, position + SHOWN))
    }
    this.scrollTo(row)
    this.scrollAside(pane)
    this.draw()
    requestAnimationFrame(() => this.center(row, pane, block, position))
  }

  center(row, pane, block, position) {
    const pre = this.textAt(row, pane, block)
    const range = pre && rangeIn(pre, position, this.search.query.length)
    if (!range) return
    const hit = range.getBoundingClientRect()
    const seen = this.scroller.getBoundingClientRect()
    if (hit.top < seen.top + this.head.offsetHeight || hit.bottom > seen.bottom) {
      this.scroller.scrollTop += hit.top - seen.top - seen.height / 2
    }
    this.draw()
  }

  textAt(row, pane, block) {
    const cell = this.rows.get(row)?.querySelector(`[aria-colindex="${pane + 2}"]`)
    return cell?.querySelectorAll("pre")[this.isCompared(pane) ? 0 : block]
  }

  lightHits() {
    const { search } = this
    if (!window.Highlight || !search) return
    const here = search.at >= 0 ? search.place(search.at) : null
    const now = here && this.textAt(here.row, here.pane, here.block)
    const hits = []
    const current = []
    for (const pre of search.query ? this.sheet.querySelectorAll("pre") : []) {
      search.positions(pre.textContent).forEach((position, hit) => {
        const range = rangeIn(pre, position, search.query.length)
        if (range) (pre === now && hit === here.hit ? current : hits).push(range)
      })
    }
    CSS.highlights.set("playground-hit", new Highlight(...hits))
    CSS.highlights.set("playground-here", new Highlight(...current))
  }
}

// Return a range of an element's text; null if it spans several text nodes
function rangeIn(pre, position, length) {
  let before = 0
  for (const node of textNodes(pre)) {
    if (position < before + node.length) {
      if (position + length > before + node.length) return null
      const range = document.createRange()
      range.setStart(node, position - before)
      range.setEnd(node, position - before + length)
      return range
    }
    before += node.length
  }
  return null
}

function* textNodes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) yield walker.currentNode
}
