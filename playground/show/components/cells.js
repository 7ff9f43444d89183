// A grid's cells: the blocks of one origin in one pane, unchanged or as a diff against another pane.

const SHOWN = 6000 // characters of a block before "show more"
const CONTEXT = 240 // characters of equal text that stay before and after a change

class Cells {
  constructor() {
    this.more = new Map() // "row pane block" → the number of its shown characters
    this.base = -1 // the pane that the others are compared with
  }

  shown(key, text) {
    return this.more.get(key) ?? Math.min(SHOWN, upToData(text))
  }

  drawCell(row, pane) {
    const cell = element("div", "cell")
    cell.setAttribute("role", "cell")
    cell.setAttribute("aria-colindex", pane + 2)
    cell.style.setProperty("--at", pane)
    const blocks = this.cells[row][pane] ?? []
    if (this.holdsBox(row, pane)) cell.append(this.edit.node)
    else if (this.isCompared(pane)) cell.append(...this.compared(row, pane, blocks))
    else if (this.isFolded(row)) cell.append(this.folded(row, pane, blocks[0], ["same", "del"]))
    else cell.append(...blocks.map((block, at) => this.drawBlock(row, pane, block, at)))
    const isOther = !cell.childNodes.length && this.cells[row].length && this.data.rows[row][0] === "rules"
    if (isOther) cell.append(element("div", "none", "No rules."))
    return cell.childNodes.length ? cell : null
  }

  isCompared(pane) {
    return this.base >= 0 && pane !== this.base
  }

  drawBlock(row, pane, [number, kind, role, decided], at) {
    const text = this.data.texts[number]
    const node = this.frame(row, pane, kind, role, decided, text)
    const key = `${row} ${pane} ${at}`
    const pre = element("pre", "", beginning(text, this.shown(key, text)))
    const images = (decided?.images ?? []).map((key) => thumbnail(this.data.images[key]))
    node.append(pre, ...images, ...this.moreButton(row, key, text))
    if (decided?.reason) node.append(element("div", "reason", decided.reason))
    return node
  }

  // Return true for a changed block of two versions: both sides leave out the same equal text
  isFolded(row) {
    const [before, after] = this.cells[row]
    if (!this.data.fixed || before?.length !== 1 || after?.length !== 1) return false
    return this.data.texts[before[0][0]] !== this.data.texts[after[0][0]]
  }

  // Return one side of such a block: in equal text, only what is near a change is shown
  folded(row, pane, [number, kind, role, decided], kinds) {
    const node = this.frame(row, pane, kind, role, decided, this.data.texts[number])
    const pre = element("pre", "")
    const runs = wordChanges(...this.cells[row].map(([[text]]) => this.data.texts[text]))
    runs.forEach(([change, text], at) => {
      const key = `${row} folded ${at}`
      const isSame = change === "same"
      const from = isSame ? CONTEXT * Boolean(at) : SHOWN
      const to = isSame ? CONTEXT * (at < runs.length - 1) : 0
      const isWhole = text.length <= from + to + CONTEXT || this.more.has(`${row} folded`) || this.more.has(key)
      const start = isWhole ? text : toLine(beginning(text, from))
      const end = isWhole ? "" : fromLine(text.slice(beginning(text, text.length - to).length))
      const hidden = text.slice(start.length, text.length - end.length)
      const said = hidden && `show ${grouped(characters(hidden))} ${isSame ? "equal" : "more"} characters`
      if (!kinds.includes(change)) return
      pre.append(isSame ? start : element(change, "", start.replaceAll("\n", "↵\n")))
      if (hidden) pre.append(this.showButton(row, key, text, said), end)
    })
    node.append(pre)
    return node
  }

  // Return a cell's text as a diff against the base pane; nothing if both are empty
  compared(row, pane, blocks) {
    if (this.isFolded(row)) return [this.folded(row, pane, blocks[0], ["same", "del", "ins"])]
    const textOf = (all) => all.map(([number]) => this.data.texts[number]).join("")
    const before = textOf(this.cells[row][this.base] ?? [])
    const after = textOf(blocks)
    if (!before && !after) return []
    const [, kind, role] = blocks[0] ?? this.cells[row][this.base][0]
    const node = this.frame(row, pane, kind, blocks.length ? role : "", undefined, after)
    const key = `${row} ${pane} compared`
    const [old, now] = [before, after].map((text) => beginning(text, this.shown(key, text)))
    const pre = element("pre", "")
    for (const [change, text] of wordChanges(old, now)) {
      if (change === "same") pre.append(text)
      else pre.append(element(change, "", text.replaceAll("\n", "↵\n")))
    }
    node.append(pre, ...this.moreButton(row, key, before.length > after.length ? before : after))
    return [node]
  }

  frame(row, pane, kind, role, decided, text) {
    const [origin, name] = this.data.rows[row]
    const node = element("div", "block")
    node.dataset.origin = origin
    node.dataset.kind = kind
    const line = element("div", "label")
    if (role) line.append(element("span", "role", role))
    if (decided?.badge) {
      node.classList.add(decided.marked ? "marked" : "unmarked")
      line.append(element("span", decided.marked ? "badge mark" : "badge", decided.badge))
    }
    if (kind !== "image") line.append(element("span", "count", grouped(characters(text))))
    line.append(copyButton(name, () => text))
    const edits = this.mayEdit && SOURCES.test(origin)
    const act = () => (edits ? this.open(origin, pane) : this.select(origin))
    if (edits) {
      const opener = button("edit", `Edit ${name}`, (event) => {
        event.stopPropagation()
        act()
      })
      opener.className = "copy"
      line.append(opener)
    }
    node.append(line)
    node.onclick = () => {
      if (!String(getSelection())) act() // not while text is selected
    }
    return node
  }

  moreButton(row, key, text) {
    const left = characters(text.slice(beginning(text, this.shown(key, text)).length))
    return left > 0 ? [this.showButton(row, key, text, `show ${grouped(left)} more characters`)] : []
  }

  showButton(row, key, text, words) {
    const node = element("button", "more", words)
    node.type = "button"
    node.onclick = (event) => {
      event.stopPropagation()
      this.showMore(row, key, text.length)
    }
    return node
  }

  showMore(row, key, length) {
    this.more.set(key, length)
    this.rows.get(row)?.remove()
    this.rows.delete(row)
    this.draw()
  }
}

// Return a text up to the end of its last whole line, or from its first whole line on
const toLine = (text) => text.slice(0, text.lastIndexOf("\n") + 1 || text.length)
const fromLine = (text) => text.slice(text.indexOf("\n") + 1)

// Return an image from the session's own data: nothing is fetched, and its size is known beforehand
function thumbnail([src, width, height]) {
  const scale = Math.min(1, 220 / width, 140 / height)
  const alt = `Image, ${grouped(width)} × ${grouped(height)} pixels`
  const size = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) }
  return Object.assign(element("img", "thumbnail"), { src, alt, title: alt, ...size })
}
