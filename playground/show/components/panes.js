// Panes side by side: one request per dialect, blocks linked by their origin.
// Session text only ever goes into textContent. One module for Streamlit, notebooks and HTML files.

const SHOWN = 20000 // characters of one block before "show all"
const SLICE = 12 // milliseconds of drawing per frame
const drawn = new WeakMap()

function textOf(block) {
  const pre = element("pre", "", block.text.slice(0, SHOWN))
  if (block.text.length <= SHOWN) return [pre]
  const left = (block.text.length - SHOWN).toLocaleString("en")
  const more = element("button", "more", `show ${left} more characters`)
  more.type = "button"
  more.onclick = (event) => {
    event.stopPropagation()
    pre.textContent = block.text
    more.remove()
  }
  return [pre, more]
}

function drawBlock(block, select) {
  const node = element("div", "block")
  node.dataset.origin = block.origin
  node.dataset.kind = block.kind
  node.tabIndex = 0
  const label = element("div", "label")
  label.append(element("span", "kind", block.label || block.kind))
  if (block.badge) {
    node.classList.add(block.marked ? "marked" : "unmarked")
    label.append(element("span", block.marked ? "badge mark" : "badge", block.badge))
  }
  label.append(element("span", "count", block.text.length.toLocaleString("en")))
  label.append(copyButton(block.label || block.kind, () => block.text))
  node.append(label, ...textOf(block))
  if (block.reason) node.append(element("div", "reason", block.reason))
  node.onclick = () => {
    if (!String(getSelection())) select(block.origin)
  }
  node.onkeydown = (event) => {
    if (event.key === "Enter" && event.target === node) select(block.origin)
  }
  return node
}

function drawPane(pane) {
  const node = element("section", "pane")
  const head = element("header", "")
  head.append(element("strong", "", pane.name), element("span", "count", pane.note))
  const body = element("div", "body")
  if (!pane.messages.length) body.append(element("p", "empty", "nothing on this page"))
  node.append(head, body)
  return node
}

function drawMessage(message, select) {
  const box = element("div", "message")
  box.append(element("div", "role", message.role))
  box.append(...message.blocks.map((block) => drawBlock(block, select)))
  return box
}

// All panes' frames at once, then a few messages of each pane per frame: a long page never freezes
function drawAll(root, data, select) {
  root.replaceChildren(...data.panes.map(drawPane))
  const bodies = root.querySelectorAll(".body")
  const longest = Math.max(0, ...data.panes.map((pane) => pane.messages.length))
  const state = { key: data.key, selected: data.selected, panes: data.panes, whole: false }
  drawn.set(root, state)
  let next = 0
  const slice = () => {
    if (drawn.get(root) !== state) return // newer data took over
    const stop = performance.now() + SLICE
    for (; next < longest && performance.now() < stop; next += 1) {
      data.panes.forEach((pane, index) => {
        if (pane.messages[next]) bodies[index].append(drawMessage(pane.messages[next], select))
      })
    }
    if (next < longest) return requestAnimationFrame(slice)
    state.whole = true
    return light(root, state.selected, true)
  }
  slice()
}

const shapeOf = (panes) =>
  JSON.stringify(panes.map((p) => [p.name, p.messages.map((m) => [m.role, m.blocks.length])]))

// Where only texts have changed, as after an edit, only their blocks are drawn anew
function redraw(root, before, data, select) {
  const bodies = root.querySelectorAll(".body")
  const notes = root.querySelectorAll(".pane > header .count")
  data.panes.forEach((pane, index) => {
    notes[index].textContent = pane.note
    pane.messages.forEach((message, at) => {
      message.blocks.forEach((block, place) => {
        const old = before.panes[index].messages[at].blocks[place]
        if (JSON.stringify(old) === JSON.stringify(block)) return
        bodies[index].children[at].children[place + 1].replaceWith(drawBlock(block, select))
      })
    })
  })
  Object.assign(before, { key: data.key, panes: data.panes, selected: data.selected })
  light(root, data.selected, false)
}

// Blocks out of sight have estimated heights: the second look corrects what the first one moved
function light(root, origin, scroll) {
  mark(root, origin, scroll)
  if (origin && scroll) requestAnimationFrame(() => mark(root, origin, true))
}

function mark(root, origin, scroll) {
  for (const body of root.querySelectorAll(".body")) {
    let first = true
    for (const block of body.querySelectorAll(".block")) {
      const lit = Boolean(origin) && block.dataset.origin === origin
      block.classList.toggle("lit", lit)
      if (lit && first && scroll) {
        const offset = block.getBoundingClientRect().top - body.getBoundingClientRect().top
        body.scrollTop += offset - 24
        first = false
      }
    }
  }
}

function mount({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".panes")
  if (!root || !data) return
  const before = drawn.get(root)
  const select = (origin) => {
    const state = drawn.get(root)
    state.selected = state.selected === origin ? "" : origin
    light(root, state.selected, true)
    setStateValue("origin", state.selected)
  }
  if (!before) {
    drawAll(root, data, select)
  } else if (before.key !== data.key) {
    const same = before.whole && shapeOf(before.panes) === shapeOf(data.panes)
    if (same) redraw(root, before, data, select)
    else drawAll(root, data, select)
  } else if (before.selected !== data.selected) {
    before.selected = data.selected
    light(root, data.selected, true)
  }
}

export default function host(component) {
  if (component !== undefined) return mount(component)
  return {
    render({ model, el }) {
      el.append(element("div", "panes"))
      mount({ data: model.get("data"), parentElement: el, setStateValue: () => {} })
    },
  }
}
