// A grid's cells: the blocks of one origin in one pane, unchanged or as a diff against another pane.

const SHOWN = 6000 // characters of a block before "show more"

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

  // Return a cell's text as a diff against the base pane; nothing if both are empty
  compared(row, pane, blocks) {
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
    if (left <= 0) return []
    const node = element("button", "more", `show ${grouped(left)} more characters`)
    node.type = "button"
    node.onclick = (event) => {
      event.stopPropagation()
      this.showMore(row, key, text.length)
    }
    return [node]
  }

  showMore(row, key, length) {
    this.more.set(key, length)
    this.rows.get(row)?.remove()
    this.rows.delete(row)
    this.draw()
  }
}

// Return an image from the session's own data: nothing is fetched, and its size is known beforehand
function thumbnail([src, width, height]) {
  const scale = Math.min(1, 220 / width, 140 / height)
  const alt = `Image, ${grouped(width)} × ${grouped(height)} pixels`
  const size = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) }
  return Object.assign(element("img", "thumbnail"), { src, alt, title: alt, ...size })
}
